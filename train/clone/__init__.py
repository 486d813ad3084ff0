"""Behaviour cloning from a dataset."""
