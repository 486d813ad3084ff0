"""The learners ``best`` and ``response``."""
