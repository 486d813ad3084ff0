"""Learners and their shared parts."""
