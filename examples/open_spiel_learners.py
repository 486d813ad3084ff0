"""PPO and magnetic mirror descent over the information states of any game of OpenSpiel, in self-play, and how
exploitable they are.

    pip install "open_spiel>=2"
    python examples/open_spiel_learners.py                                    # pegging with two cards each
    python examples/open_spiel_learners.py --game "liars_dice(dice_sides=5)"

A table has a logit for each action of each information state, and a critic the mean return of each state. Both learners
follow the gradient of the card that was drawn, with a bonus for entropy that falls to a tenth. PPO clips the ratio of
new chances to old ones (Schulman et al. 2017); magnetic mirror descent (Sokota et al. 2023) has a KL divergence in its
place. The player measured draws its actions, and has the average of the logits over the last half of the run.
"""

import argparse

import numpy as np
import pyspiel
from open_spiel.python.policy import TabularPolicy

import crib_env.open_spiel  # noqa: F401  # registers the games
from crib_env.evaluate.skill.exploitability import exploitability
from crib_env.players.tabular import StatePolicy
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("--game", default="crib_pegging(cards=2)")
options.add_argument("--episodes", type=int, default=131_072)
options.add_argument("--round", type=int, default=2_048, help="episodes between two policies")
options.add_argument("--rate", type=float, default=3.0, help="of the gradient, at the beginning; it falls to 0")
options.add_argument("--entropy", type=float, default=0.3, help="weight of the bonus at the beginning, in returns")
options.add_argument("--epochs", type=int, default=4, help="steps of gradient for each round")
options.add_argument("--clip", type=float, default=0.2, help="of PPO")
options.add_argument("--step", type=float, default=3.0, help="of mirror descent: 1 / the weight of its KL divergence")
options.add_argument("--learners", nargs="+", default=["ppo", "mmd"], choices=["ppo", "mmd"])
options.add_argument("--seed", type=int, default=0)
asked = options.parse_args()

game = pyspiel.load_game(asked.game)
table = TabularPolicy(game)
legal = table.legal_actions_mask.astype(bool)


def log_policy(logits):
    """log π of each action (S, A), 0 for one that is not legal."""
    masked = np.where(legal, logits, -np.inf)
    shifted = masked - masked.max(axis=1, keepdims=True)
    return np.where(legal, shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)), 0.0)


def play(cumulative, rng):
    """Plays an episode by sums of chances (S, A), the same for all; returns its decisions, (state, action, return)."""
    state, decisions = game.new_initial_state(), []
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, weights = zip(*state.chance_outcomes())
            state.apply_action(outcomes[np.searchsorted(np.cumsum(weights), rng.random() * sum(weights))])
            continue
        player = state.current_player()
        row = table.state_lookup[state.information_state_string(player)]
        action = int(np.searchsorted(cumulative[row], rng.random() * cumulative[row, -1], side="right"))
        decisions.append((row, action, player))
        state.apply_action(action)
    returns = state.returns()
    return [(row, action, returns[player]) for row, action, player in decisions]


def train(learner, rng):
    """Learns by self-play; returns the policy (S, A)."""
    logits, average = np.zeros(legal.shape), np.zeros(legal.shape)
    values, seen, rounds = np.zeros(len(legal)), np.zeros(len(legal)), asked.episodes // asked.round
    for now in range(rounds):
        left, entropy = 1 - now / rounds, asked.entropy * 0.1 ** (now / rounds)
        old = log_policy(logits)
        cumulative = np.where(legal, np.exp(old), 0).cumsum(axis=1)
        rows, actions, returns = map(np.array, zip(*(d for _ in range(asked.round) for d in play(cumulative, rng))))
        advantages, per_state = returns - values[rows], np.bincount(rows, minlength=len(legal))
        seen += per_state
        np.add.at(values, rows, advantages / np.maximum(np.minimum(seen, 1_000), per_state)[rows])
        for _ in range(asked.epochs):
            new = log_policy(logits)
            pi = np.where(legal, np.exp(new), 0)
            ratio = np.exp(new - old)[rows, actions]
            slope = advantages * ratio
            if learner == "ppo":
                slope = np.where((ratio - 1) * np.sign(advantages) > asked.clip, 0, slope)
            gradient = np.zeros(legal.shape)
            np.add.at(gradient, (rows, actions), slope)
            gradient -= pi * np.bincount(rows, slope, minlength=len(legal))[:, None]
            gradient /= np.maximum(per_state, 1)[:, None]
            pull = entropy * new + ((new - old) / asked.step if learner == "mmd" else 0)
            gradient -= np.where(per_state[:, None] > 0, pi * (pull - (pi * pull).sum(axis=1, keepdims=True)), 0)
            logits += asked.rate * left * gradient
        if 2 * now >= rounds:
            average += logits
    return np.where(legal, np.exp(log_policy(average / (rounds - rounds // 2))), 0)


def measured(policy):
    """What exact best responses gain on a policy, in the mean of both roles."""
    table.action_probability_array = policy
    if game.get_type().short_name == "crib_pegging":
        play_game = PlayGame(start=start_of_play(game.get_parameters()["cards"]), threads=1)
        return exploitability(StatePolicy(table.policy_for_key), play_game).mean
    chances = {key: [(a, p) for a, p in enumerate(table.policy_for_key(key)) if p] for key in table.state_lookup}
    return pyspiel.exploitability(game, chances)


print(f"{'even':>5}: {measured(legal / legal.sum(axis=1, keepdims=True)):.6f}", flush=True)
for name in asked.learners:
    print(f"{name:>5}: {measured(train(name, np.random.default_rng(asked.seed))):.6f}", flush=True)
