"""Finished training runs: tables and learning curves."""
