"""The tier for language models: 400 discards at 0–0 and 400 cards of the pegging game, each a question in words.

The positions are the first ones of the tasks ``discards`` and ``play``, and so is what an answer loses. What a model is
asked is pinned by a hash. A position for which a model names no legal card is left out of the means, and the share of
those answered is a figure of its own.
"""

from __future__ import annotations

import numpy as np

from crib_env.agents import Agent
from crib_env.agents.llm import LLMAgent
from crib_env.evaluate.skill.positions import after_cards, batch_of, before_discards, chosen_cards
from crib_env.evaluate.skill.suite import discards, play
from crib_env.evaluate.skill.suite.task import NotMeasuredError, Work
from crib_env.evaluate.statistics import Measured
from crib_env.hands import N_RANKS

NAME, VERSION = "text", 1
HASH = "9550173d0225d6d78582d4ec92f479c2a333fb17a21dea6e8e2b04bc95466747"
"""SHA-256 of all questions, as :func:`crib_env.agents.llm.question` asks them."""
N = 400
_AT_ONCE = 50  # questions, between two signs of progress


def positions(n: int = N) -> tuple[np.ndarray, np.ndarray]:
    """Games (n,) before a discard, and games (n,) before a card of the play."""
    hands, choices, zeros = discards.standard(), play.standard(), np.zeros((n, 2), np.int64)
    return (
        before_discards(hands.sixes[:n].astype(np.int64), hands.deals[:n] == 1, zeros),
        after_cards(choices.deals[:n], choices.dealers[:n], zeros, choices.cards[:n]),
    )


def measure(agent: Agent, work: Work) -> dict[str, Measured]:
    """See :class:`crib_env.evaluate.skill.suite.task.Task`."""
    n = work.part_of(N)
    before_discard, before_card = positions(n)
    rows, pairs = _answers(agent, before_discard, work, 2)
    discard_lost = discards.points_lost_at_zero(discards.standard(), rows, pairs)
    rows, cards = _answers(agent, before_card, work, 1)
    card_lost = play.standard().losses[rows, cards[:, 0] % N_RANKS].astype(float)
    if not len(discard_lost) or not len(card_lost):
        raise NotMeasuredError("it named no legal card")
    discard, card = Measured.of(discard_lost), Measured.of(card_lost)
    half = None
    if discard.half_width is not None and card.half_width is not None:
        half = float(np.hypot(discard.half_width, card.half_width) / 2)
    answered = len(discard_lost) + len(card_lost)
    best_discards, best_cards = int((discard_lost < discards.SAME).sum()), int((card_lost < play.BEST).sum())
    figures = {
        "points lost an answer in words": Measured((discard.mean + card.mean) / 2, half, answered),
        "points lost a discard in words": discard,
        "best discards in words, %": Measured.percent(best_discards, len(discard_lost)),
        "points lost a card laid in words": card,
        f"cards laid in words that lose less than {play.BEST}, %": Measured.percent(best_cards, len(card_lost)),
        "positions answered, %": Measured.percent(answered, 2 * n),
    }
    if isinstance(agent, LLMAgent):
        first = agent.first_answers.values()
        figures["first answers with a legal card, %"] = Measured.percent(sum(first), len(first))
    return figures


def _answers(agent: Agent, games: np.ndarray, work: Work, n_cards: int) -> tuple[np.ndarray, np.ndarray]:
    """The positions that were answered, and the cards."""
    answered, chosen = [], []
    for start in range(0, len(games), _AT_ONCE):
        some = games[start : start + _AT_ONCE]
        rows = np.arange(len(some))
        if isinstance(agent, LLMAgent):
            found = agent.choices(batch_of(some).views(rows))
            rows = np.array([row for row in rows if not isinstance(found[row], ValueError)], np.int64)
            cards = np.array([found[row] for row in rows], np.int64).reshape(-1, n_cards)
        else:
            cards = chosen_cards(agent, some, 1, lambda done: None, n_cards, first_id=start)
        answered.append(start + rows)
        chosen.append(cards)
        work.on_progress_of(2 * len(games))(len(some))
    return np.concatenate(answered), np.concatenate(chosen)
