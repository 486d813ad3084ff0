"""Hidden cards are dealt again at each decision: no player may choose another card for that.

A player is made twice. One plays; its twin sees the same games with other hidden cards, from the first decision to the
last, so that a memory that has seen too much is found too.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crib_env.batch import GameBatch
from crib_env.engine import EPISODES
from crib_env.kernels import streams
from crib_env.players.policies import RANDOM
from crib_env.views import views_of
from tests.attack import Attempts, Sizes
from tests.helpers.hidden_cards import with_hidden_dealt_again
from tests.helpers.players import PLAYERS, player

GAMES = 8  # side by side
CHEATS = "a player that sees hands"  # it shows that a leak would be found


def attack(sizes: Sizes, seed: int) -> Iterator[Attempts]:
    """All players; and that the one which cheats is found."""
    for name in PLAYERS[: sizes.most]:
        found = Attempts(f"decisions of {name} that depend on hidden cards")
        found.tried, other = decide_twice(name, sizes.decisions, seed)
        found.faults += other
        yield found
    control = Attempts(f"{CHEATS} passes for a player that does not cheat", tried=1)
    control.faults += [] if decide_twice(CHEATS, max(sizes.decisions, 200), seed)[1] else ["no leak of it was found"]
    yield control


def decide_twice(name: str, decisions: int, seed: int) -> tuple[int, list[str]]:
    """The number of decisions of a player against random cards, and those at which its twin chose otherwise."""
    one, twin = (None if name == CHEATS else player(name) for _ in range(2))
    rng = np.random.default_rng(seed)
    asked, other = 0, []
    while asked < decisions:
        for episode in EPISODES:
            batch = GameBatch(streams(seed + asked, GAMES), episode=episode, first_id=asked)
            while len(rows := batch.acting()) and asked < decisions:
                turns = batch.games["turn"][rows].astype(np.int64)
                is_mine = turns == rows % 2
                cards = batch.native_cards(rows, RANDOM)
                if is_mine.any():
                    mine, seats = rows[is_mine], turns[is_mine]
                    again = with_hidden_dealt_again(batch.games, mine, seats, rng)
                    chosen, differing = (
                        choose(who, games, mine, seats, batch) for who, games in ((one, batch.games), (twin, again))
                    )
                    cards[is_mine] = chosen
                    asked += len(mine)
                    other += [
                        f"{name} in {episode}, game {row}: {a} or {b}"
                        for row, a, b in zip(mine, chosen, differing)
                        if a != b
                    ]
                batch.step(rows, cards)
    return asked, other


def choose(agent, games, rows, seats, batch):
    """The cards that a player chooses in these games, of which it is shown what its seat may see; ``None`` cheats."""
    views = views_of(games, rows, seats, batch.game_ids[rows])
    if agent is not None:
        return agent.act(views)
    others = games["hand"][rows, 1 - seats]
    return [legal[hand % len(legal)] for hand, legal in zip(others.tolist(), map(np.flatnonzero, views.action_mask))]
