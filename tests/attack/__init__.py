"""Attacks on the whole project, in one command: :mod:`tests.attack.__main__`."""
