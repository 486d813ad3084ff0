"""Training loops of other libraries on this environment: each runs if its library is installed, else it is skipped."""
