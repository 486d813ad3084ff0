"""Exact values, and beside them what can only be sampled: cribs of purposeful discards, the play, the board."""
