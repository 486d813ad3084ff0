"""Whole deals as a game: which two of six cards each player discards, and how it plays the other four."""
