"""The version, apart from everything else, so that building a wheel imports nothing."""

__version__ = "0.1.0"
