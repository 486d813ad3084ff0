"""The table as text, from one player's point of view."""

from __future__ import annotations

import numpy as np

from crib_env.cards import format_card
from crib_env.engine import DISCARD, OVER, PEGGING_EPISODE, WIN

_WIDTH = 60  # one hole is two points


def write_table(game: np.void, seat: int) -> str:
    """A game (a ``GAME`` record) as ``seat`` sees it: scores on a board, starter, the play and count, the hand."""
    scores = [int(score) for score in game["scores"]]
    lines, is_pegging = [], game["episode"] == PEGGING_EPISODE  # without starter and discards
    for player in (1 - seat, seat):
        role = "dealer" if game["dealer"] == player else "pone"
        lines.append(f"player_{player} {role:<6} {_track(scores[player])} {scores[player]:3d}")
        if player != seat:
            lines.append(f"  hand     {' '.join(['??'] * int(game['hand'][player]).bit_count()) or '-'}")
            if not is_pegging:
                lines.append(f"  starter  {_starter(game)}")
            lines.append(f"  play     {_play(game)}")
    lines.append(f"  hand     {_cards(game['hand'][seat])}")
    if not is_pegging:
        lines.append(f"  discards {_cards(game['discards'][seat])}")
    lines.append(f"  {_to_do(game, seat)}")
    return "\n".join(lines)


def _track(score: int) -> str:
    peg = min(score * (_WIDTH - 1) // (WIN - 1), _WIDTH - 1)
    holes = ["." if (hole + 1) % 15 else ":" for hole in range(_WIDTH)]  # a mark every 30 points, as on a board
    holes[peg] = "O"
    return "".join(holes)


def _cards(mask: np.integer) -> str:
    return " ".join(format_card(card) for card in range(52) if int(mask) >> card & 1) or "-"


def _starter(game: np.void) -> str:
    # The starter is cut when the dealer has discarded. The phase does not tell: a game can be called off before.
    return format_card(int(game["cards"][12])) if game["kept"][game["dealer"]] else "-"


def _play(game: np.void) -> str:
    """Cards laid, a bar at each reset, and the count."""
    parts = []
    for k in range(int(game["n_laid"])):
        if k and k == game["pile_start"]:
            parts.append("|")
        parts.append(f"{format_card(int(game['laid'][k]))}({int(game['laid_by'][k])})")
    return f"{' '.join(parts) or '-'}   count {int(game['count'])}"


def _to_do(game: np.void, seat: int) -> str:
    if game["phase"] == OVER:
        return "the episode is over"
    if game["turn"] != seat:
        return f"player_{1 - seat} is to act"
    if game["phase"] == DISCARD:
        return f"discard {2 - int(game['discards'][seat]).bit_count()} to the crib"
    return "lay a card"
