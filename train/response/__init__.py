"""Responses: how exploitable a player is, as far as learning finds out."""
