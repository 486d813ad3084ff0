"""The learner ``mmd-tables``."""
