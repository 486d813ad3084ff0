"""Recorded games, decision by decision: what each choice lost, and what was luck."""
