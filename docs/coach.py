"""Writes what the coach says of 200 errors, to be read: ``python -m docs.coach > docs/coach.txt``, in some minutes.

``erring:errs=2`` plays against ``best`` from scores drawn by a seed. ``tests/test_play_coach.py`` computes such
sentences and their figures again.
"""

import tempfile
from itertools import count
from pathlib import Path

import numpy as np

from crib_env import format_card
from crib_env.agents import make_agent
from crib_env.cards import format_cards
from crib_env.evaluate.play.coach import Coach
from crib_env.evaluate.play.saved_game import AGENT, GameSoFar, SavedGame
from crib_env.evaluate.skill.analysis.judges import ExpertJudge

SENTENCES, SEED = 200, 1


def main() -> None:
    """Prints a line for each."""
    rng, told = np.random.default_rng(SEED), 0
    person, judge = make_agent("erring:errs=2"), ExpertJudge()
    with tempfile.TemporaryDirectory() as folder:
        for seed in count():
            low = rng.integers(0, 100)
            scores = tuple(rng.integers(low, low + 20, 2).tolist())
            game = SavedGame.begin_in(GameSoFar("best", seed, None, scores, ()), Path(folder))
            while not game.is_over:
                game.play(int(game.agents_card() if game.turn == AGENT else person.act(game.view())[0]))
            game.close()
            for note in Coach(game, judge).notes():
                if note.why is None:
                    continue
                view = game.played[note.at].view()
                laid = [
                    f"{'you' if by == 0 else 'opponent'} {format_card(card)}"
                    for card, by in zip(view.laid[0].tolist(), view.laid_by[0].tolist())
                    if card >= 0
                ]
                role = "dealer" if view.is_dealer[0] else "pone"
                held = format_cards([card for card in view.hand[0].tolist() if card >= 0])
                table = (
                    f", laid: {', '.join(laid) or 'nothing'}; count {view.count[0]}" if not view.is_discard[0] else ""
                )
                own, other = view.scores[0].tolist()
                print(f"{own} to {other}, {role}, {held}{table}")
                print(f"    {note.text}")
                print(f"    {note.why.name}: {note.why.said}")
                print(f"    {note.why.figures}\n")
                told += 1
                if told == SENTENCES:
                    return


if __name__ == "__main__":
    main()
