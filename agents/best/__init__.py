"""``best``: the strongest networks, which play to the score."""
