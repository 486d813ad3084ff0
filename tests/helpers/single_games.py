"""The Gymnasium ids, and an opponent for their games."""

from __future__ import annotations

GAMES = ("crib_env/Cribbage-v0", "crib_env/CribbagePlay-v0", "crib_env/CribbagePegging-v0")


IDS = (*GAMES, "crib_env/CribbageDiscard-v0")


class FirstCard:
    """The simplest agent: the legal card with the lowest id."""

    name = "first card"

    def act(self, views):
        return views.action_mask.argmax(axis=1)
