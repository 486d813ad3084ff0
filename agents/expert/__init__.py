"""``expert``: exact discards by probability of winning, and a search to the end of the play."""
