"""Other people's training loops on this environment: each runs where its library is installed, else it is skipped."""
