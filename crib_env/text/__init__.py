"""Cribbage in text: the rules and a position in words, and an answer read back as cards."""
