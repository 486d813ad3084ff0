"""The version. This module imports nothing, so that building a wheel imports nothing either."""

__version__ = "0.1.0"
