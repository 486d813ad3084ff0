"""The version. This module imports nothing, so that building a wheel imports nothing either."""

__version__ = "1.0.0"
