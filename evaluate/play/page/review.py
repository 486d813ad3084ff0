"""A finished game as the page shows it: every moment, errors, luck, other choices, and words to share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crib_env import PlayerViews
from crib_env.cards import format_card
from crib_env.evaluate.play.choices import card_choices, discard_choices
from crib_env.evaluate.play.coach import Coach, review_rows
from crib_env.evaluate.play.page.views import note_as_json, whole_game
from crib_env.evaluate.play.progress import PlayedGame, progress_rows, rating
from crib_env.evaluate.play.told_game import tell_game
from crib_env.evaluate.skill.analysis.judges import PlayJudge
from crib_env.evaluate.skill.luck.table import WINS


def review_as_json(coach: Coach) -> dict[str, Any]:
    """The coach on a finished game, and each of its moments."""
    analysis = coach.analysis()
    return {
        "rows": list(review_rows(analysis)),
        "costliest": [note_as_json(note) for note in coach.costliest()],
        "frames": list(whole_game(coach.game)),
        "luck": analysis.luck[:, :, WINS].sum(axis=1).tolist(),
    }


def choices_as_json(view: PlayerViews, chosen: Sequence[int], judge: PlayJudge) -> dict[str, Any]:
    """The choices of a decision, the best first.

    Args:
        view: one decision.
        chosen: the cards discarded, or the card laid.
        judge: values cards of the play.
    """
    found = discard_choices(view) if view.is_discard[0] else card_choices(view, judge, chosen[0])
    return {
        "columns": list(found.columns),
        "rows": [
            {
                "cards": [format_card(card) for card in row.cards],
                "cells": list(row.cells),
                "chosen": {*row.cards} == {*chosen},
            }
            for row in found.rows
        ],
    }


def share(coach: Coach) -> dict[str, Any]:
    """The game as text with errors and luck, and as a line of a file of games."""
    analysis = coach.analysis()
    return {"text": tell_game(analysis.record, analysis=analysis), "line": analysis.record.to_line()}


def progress_as_json(games: Sequence[PlayedGame]) -> dict[str, Any]:
    """A person's games in rows, and its rating."""
    found = rating(games)
    return {
        "rows": list(progress_rows(games)) if games else [],
        "rating": found and found._asdict(),
    }
