"""Matches between agents, and measurements."""
