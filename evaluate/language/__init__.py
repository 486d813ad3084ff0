"""Cribbage for the training of language models: positions as text, with the exact loss of each choice."""
