"""The learner ``td``."""
