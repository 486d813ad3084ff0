"""Recorded games, decision by decision: the loss of each choice, and the luck."""
