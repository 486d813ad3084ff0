"""Matches, leagues and records of games."""
