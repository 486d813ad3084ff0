"""Inputs of networks, all derived from what the player sees."""
