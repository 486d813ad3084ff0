"""Exact values: nothing here is sampled."""
