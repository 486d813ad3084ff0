"""Learners, and what they share."""
