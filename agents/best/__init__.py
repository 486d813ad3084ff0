"""``best``: the strongest network, which plays to the score without search."""
