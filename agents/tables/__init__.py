"""Agents whose policy is a sum of tables."""
