"""Exact values of discards, hands and cribs, by enumeration and counting."""
