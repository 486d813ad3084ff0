"""The learner ``best``."""
