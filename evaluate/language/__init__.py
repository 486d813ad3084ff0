"""Cribbage for the training of language models: positions in words, exact losses, and doors to other people's loops."""
