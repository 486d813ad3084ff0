"""Inference about hidden cards: which hands the opponent can hold, how likely each is, and what follows."""
