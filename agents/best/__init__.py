"""``best``: the strongest player that takes microseconds."""
