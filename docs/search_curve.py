"""What a search at decision time is worth, by its time: `python -m docs.search_curve DATA FOLDER …`, ten minutes.

Folders have runs of several seeds in the pegging game with three cards each. Every public state is searched once, with
`ranges=search`, and timed; exact best responses measure the policy that comes of it. A decision takes the time of all
states of its deal at which somebody has chosen since the player's last choice: the mean over deals of the blueprint
against itself.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from crib_env import GameBatch, PlayerViews, streams
from crib_env.agents import make_agent
from crib_env.agents.asked import policy_of
from crib_env.agents.search import Search, Settings
from crib_env.engine import DEALER, PONE, ROLES
from crib_env.hands import N_RANKS
from crib_env.players.agent import Agent
from crib_env.solver.play_game import PlayGame
from crib_env.solver.sweeps import EXPECTED

CARDS, DEALS, UPDATES = 3, 1_000, (1, 2, 3, 10, 30)


def node_of(game: PlayGame, views: PlayerViews, b: int) -> int:
    """The node of a decision of the pegging game."""
    role, held = DEALER if views.is_dealer[b] else PONE, views.hand[b][views.hand[b] >= 0]
    laid = [
        (role if by == 0 else 1 - role, int(card) % N_RANKS)
        for by, card in zip(views.laid_by[b], views.laid[b])
        if card >= 0
    ]
    return game.node_at(laid, role, int((held % N_RANKS).min()))


def nodes_chosen_at(agent: Agent, game: PlayGame) -> list[int]:
    """The nodes of all choices in some deals of an agent against itself."""
    batch, found = GameBatch(streams(0, DEALS), episode="pegging", cards=CARDS, skip_forced=True), []
    while len(rows := batch.acting()):
        views = batch.views(rows)
        found += [node_of(game, views, b) for b in range(len(rows))]
        batch.step(rows, agent.act(views))
    return found


def measured(game: PlayGame, policy: np.ndarray, blueprint: np.ndarray) -> dict[str, float]:
    """Exploitability of a policy, and what it earns from the blueprint, points a deal in the mean of both roles."""
    earned = (game.earned(policy, blueprint, role, EXPECTED) for role in range(len(ROLES)))
    return {"exploitability": game.best_responses(policy).nash_conv / 2, "net": sum(earned) / len(ROLES)}


def main() -> None:
    """Measures, and writes the data of the figure."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", type=Path)
    options.add_argument("folders", nargs="+", type=Path, help="of `crib-env train LEARNER --seeds N`, called LEARNER")
    asked = options.parse_args()
    curves: dict[str, list[list[dict[str, float]]]] = {folder.name: [] for folder in asked.folders}
    for run in (run for folder in asked.folders for run in sorted(folder.glob("seed-*"))):
        agent, points = make_agent(str(run)), []
        for updates in UPDATES:
            search = Search(agent, CARDS, Settings(updates=updates, ranges="search"))
            game, seconds = search.game, np.zeros(len(search.game.nodes))
            if not points:
                nodes, blueprint = np.array(nodes_chosen_at(agent, game)), policy_of(agent, game)
                points.append({"updates": 0, "ms": 0.0, **measured(game, blueprint, blueprint)})
            for at in range(len(seconds)):  # what leads to a state comes before it
                before = time.process_time()
                search.search(at)
                seconds[at] = time.process_time() - before
            ms = 2_000 * float(seconds[nodes].mean())  # both players' states
            points.append({"updates": updates, "ms": ms, **measured(game, search.policy, blueprint)})
            print(run, points[-1], flush=True)
        curves[run.parent.name].append(points)
    asked.data.write_text(json.dumps({"deals": DEALS, "curves": curves}, indent=1) + "\n")


if __name__ == "__main__":
    main()
