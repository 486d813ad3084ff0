"""Training loops of other libraries on this environment, each in an environment that has it: ``make loops``."""
