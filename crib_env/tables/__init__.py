"""Sampled or solved tables (cribs, pegging, win probabilities), and the analysis of discards that uses them."""
