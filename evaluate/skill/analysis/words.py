"""An analysis in words: the loss of a decision, the luck of a deal. Differences of chances are in percentage points."""

from __future__ import annotations

from crib_env.cards import format_cards
from crib_env.evaluate.skill.analysis.decisions import Decision, GameAnalysis
from crib_env.evaluate.skill.luck.table import NET_POINTS, WINS
from crib_env.evaluate.skill.luck.variates import CARDS, CHANCES, FIRST_DEAL, STARTER

LEAST = 0.0005
"""Smaller chances to win are left out."""


def tell_loss(decision: Decision) -> str:
    """Names the better choice: ``"5C 5H is better: +1.20 points, +2.3 % points to win"``."""
    points = f"+{decision.points_lost:.2f} points, " if decision.points_lost >= 0.005 else ""
    return f"{format_cards(decision.best)} is better: {points}+{_to_win(decision.chance_lost)}"


def tell_luck(analysis: GameAnalysis, deal: int) -> list[str]:
    """The luck of a deal, a line for each chance that brought any."""
    lines = []
    for chance in (FIRST_DEAL, CARDS, STARTER):
        luck = analysis.luck[deal, chance]
        if abs(luck[WINS]) >= LEAST:
            seat = 0 if luck[WINS] > 0 else 1
            points = luck[NET_POINTS] * (1 if seat == 0 else -1)
            brought = f"{points:+.1f} points, +{_to_win(abs(luck[WINS]))}"
            lines.append(f"luck of the {CHANCES[chance]}: {analysis.record.names[seat]} {brought}")
    return lines


def _to_win(chance: float) -> str:
    return f"{100 * chance:.1f} % points to win"


def notes_of_deal(analysis: GameAnalysis, deal: int) -> dict[int, str]:
    """Notes on the decisions of a deal that lost something, by the number of the card in the deal."""
    return {
        decision.place: tell_loss(decision)
        for decision in analysis.decisions
        if decision.deal == deal and decision.chance_lost >= LEAST
    }
