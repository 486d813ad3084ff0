"""OpenSpiel's CFR+ and MCCFR in the pegging game with two cards, measured by the exact best responses of this project.

    pip install "open_spiel>=2"
    python examples/open_spiel_cfr.py

The average policy of a learner becomes an agent, and its exploitability is printed in points a deal: of CFR+ after
every power of two of its iterations, of MCCFR at the end. The solver of this project is last.
"""

import argparse

import pyspiel
from open_spiel.python.algorithms.cfr import CFRPlusSolver
from open_spiel.python.algorithms.external_sampling_mccfr import ExternalSamplingSolver
from open_spiel.python.policy import tabular_policy_from_callable

import crib_env.open_spiel  # noqa: F401  # registers the games
from crib_env.evaluate.skill.exploitability import exploitability
from crib_env.players.tabular import StatePolicy
from crib_env.solver.cfr import PlaySolver
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("--cfr", type=int, default=16, help="iterations of CFR+, which walks all deals in each")
options.add_argument("--mccfr", type=int, default=16_384, help="iterations of MCCFR, which draws a deal for each role")
options.add_argument("--solver", type=int, default=64, help="iterations of this project's solver")
asked = options.parse_args()

game = pyspiel.load_game("crib_pegging(cards=2)")
play = PlayGame(start=start_of_play(2), threads=1)


def measure(name, iteration, table):
    """Prints the exploitability of a table of OpenSpiel."""
    found = exploitability(StatePolicy(table.policy_for_key), play)
    print(f"{name:>8} {iteration:>7,} iterations: {found.mean:.6f}", flush=True)


cfr = CFRPlusSolver(game)
for k in range(1, asked.cfr + 1):
    cfr.evaluate_and_update_policy()
    if k & (k - 1) == 0:
        measure("CFR+", k, cfr.average_policy())

mccfr = ExternalSamplingSolver(game)
for _ in range(asked.mccfr):
    mccfr.iteration()
measure("MCCFR", asked.mccfr, tabular_policy_from_callable(game, mccfr.average_policy().action_probabilities))

solver = PlaySolver(play)
for _ in range(asked.solver):
    solver.iterate()
print(f"crib_env {asked.solver:>7,} iterations: {solver.best_responses().nash_conv / 2:.6f}")
