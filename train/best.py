"""``best``: policy networks that learn the solved play.

Two networks learn how to lay cards from solutions of the play in points: one from the equilibrium of the pegging game,
one from real deals in which a share of the opponents are simple players
(:mod:`crib_env.agents.belief`), so that it wins more from weak opponents. Discards and the end of a game
need no learning: there ``best`` analyses and searches.

This is policy distillation (Rusu et al. 2015), without search or opponents. Decisions are sampled from each solution,
which itself would take a gigabyte: both players follow it, but in three deals of four one of them lays half of its
cards at random, so that replies to all cards are among the decisions. Those of a player who does so are left out. A
network learns to lay each rank as often as the solution does: the loss is the Kullback–Leibler divergence. Inputs are
ranks and who laid them (:mod:`crib_env.agents.best`). The policy of the pegging game is learned first, in ``episodes``,
then that of deals in as many.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np
import torch
from rich.progress import Progress

from crib_env.agents.belief import simple_policy
from crib_env.agents.best import N_INPUTS, BestAgent, write_inputs
from crib_env.cards import RANKS
from crib_env.engine import DEALER, PONE
from crib_env.files.checked_file import Column, load_arrays, save_arrays
from crib_env.hands import HAND_TABLES, HANDS, N_RANKS
from crib_env.kernels import GOLDEN, kernel, mix, streams
from crib_env.solver.cfr import PlaySolver, Population
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import CARDS, GONE, N_FIELDS, gone_of, lay_rank, say_go, start_of_play
from crib_env.solver.tree import PublicTree
from crib_env.tables.prior import prior_of_discards
from crib_env.train.loop.run import Round, Rounds
from crib_env.train.loop.settings import Count, LearningSettings, NotNegative, Widths
from crib_env.train.shared.gradients import Descent, Parts, batches_of, mean_of_steps, precision
from crib_env.values import Range, Threads, WholeNumber

_NO_STARTER = -1
_WILD_DEALS, _WILD_CARDS = 0.75, 0.5
_MOST = 255  # the code of a chance of 1
_AT_ONCE = 100_000  # decisions that are coded at a time
_KIND = "file of decisions of the solved play"
_VERSION = 1


@dataclass(frozen=True)
class BestSettings(LearningSettings):
    """Settings of the solutions and of the policies."""

    episode: Literal["deal", "pegging"] = "deal"
    """What an episode is: a deal, or the play of eight cards and nothing else, valued by net points."""
    hidden: Widths = (1024, 512)
    """Widths of the hidden layers of each network."""
    pegging_iterations: Count = 24
    """Iterations of the solution of the pegging game."""
    iterations: Count = 8
    """Iterations of the solutions of real deals."""
    simple_players: Annotated[float, Range(0, 0.99)] = 0.7
    """Share of simple players among the opponents in real deals."""
    decisions: Count = 39_000_000
    """Decisions sampled from the pegging game, and as many from real deals."""
    episodes: Count = 50_000_000
    """Decisions that each network learns from; those sampled come round again until then."""
    episodes_at_once: Count = 65_536
    """Decisions in a round."""
    batch_size: Count = 1_024
    """Decisions in a gradient step."""
    evaluations: WholeNumber = 5
    """How often to measure strength during training."""
    checkpoint_seconds: NotNegative = 300.0
    """Seconds between checkpoints."""
    threads: Threads = 2
    """Threads of the solver; the result of training does not depend on them."""

    @property
    def games(self) -> tuple[str, ...]:
        """Whose policies are learned, one after the other."""
        return ("pegging",) if self.episode == "pegging" else ("pegging", "deals")

    @property
    def all_episodes(self) -> int:
        """Decisions that both networks learn from."""
        return self.episodes * len(self.games)


class Decisions(NamedTuple):
    """M decisions with at least two ranks to choose from."""

    inputs: np.ndarray
    """(M, P) uint8: the inputs of the policy network, each a bit (:func:`numpy.packbits`)."""
    chances: np.ndarray
    """(M, 13) uint8: how likely the solution lays each rank, in 255ths."""

    def __len__(self) -> int:
        return len(self.inputs)

    def save(self, path: Path) -> None:
        """Writes them to a file, whole or not at all."""
        save_arrays(path, _KIND, _VERSION, self._asdict(), compressed=False)

    @classmethod
    def load(cls, path: Path, n: int) -> Decisions:
        """Reads a file of :meth:`save` with ``n`` decisions.

        Raises:
            ValueError: it is damaged, or holds something else.
        """
        columns = {"inputs": Column("u", (n, -(-N_INPUTS // 8))), "chances": Column("u", (n, N_RANKS))}
        return cls(**load_arrays(path, _KIND, _VERSION, columns))

    def at(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The inputs (m, ``N_INPUTS``) and the chances (m, 13) of some decisions, float32."""
        chances = self.chances[rows].astype(np.float32)
        inputs = np.unpackbits(self.inputs[rows], axis=1, count=N_INPUTS).astype(np.float32)
        return inputs, chances / chances.sum(axis=1, keepdims=True)


def joined(parts: Sequence[Decisions]) -> Decisions:
    """All parts, one after the other."""
    return Decisions(*(np.concatenate(columns) for columns in zip(*parts)))


class SolvedPlay(NamedTuple):
    """The play from a public state, and a policy for it."""

    tree: PublicTree
    start: np.ndarray
    """(``N_FIELDS``,) the public state at the root."""
    starter: int
    """Its rank, or -1."""
    dealt: np.ndarray
    """(2, n) float64 for each role the cumulative sum, over its hands (:data:`crib_env.hands.HANDS`), of their
    weights times the ways to draw their cards."""
    policy: np.ndarray
    """(S,) float32, as :meth:`crib_env.solver.play_game.PlayGame.expected` takes it."""

    @classmethod
    def of(
        cls, start: np.ndarray, starter: int, prior: Sequence[np.ndarray], tree: PublicTree, policy: np.ndarray
    ) -> SolvedPlay:
        """A policy and how the hands are dealt (``prior`` as in :class:`crib_env.solver.play_game.PlayGame`)."""
        counts = _rank_counts(start)
        free = 4 - np.array([gone_of(start[GONE], rank) for rank in range(N_RANKS)])
        ways = np.ones(counts.shape[:2])
        for k in range(4):  # the ways to draw the cards of a hand, one after the other
            ways *= np.where(counts > k, np.maximum(free - k, 0), 1).prod(axis=2)
        return cls(tree, start, starter, np.cumsum(np.array(prior) * ways, axis=1), policy)

    def sample(self, n: int, seed: int) -> Decisions:
        """``n`` decisions of many deals."""
        parts: list[Decisions] = []
        for word in streams(seed, -(-n // _AT_ONCE)):
            size = min(_AT_ONCE, n - _AT_ONCE * len(parts))
            inputs, chances = np.zeros((size, N_INPUTS), np.uint8), np.zeros((size, N_RANKS), np.uint8)
            _sample(self, _rank_counts(self.start), HAND_TABLES, word, inputs, chances)
            parts.append(Decisions(np.packbits(inputs, axis=1), chances))
        return joined(parts)


def _rank_counts(start: np.ndarray) -> np.ndarray:
    """(2, n, 13) cards of each rank in the hands of both roles, which hold as many."""
    hands = (HANDS[size] for size in start[CARDS : CARDS + 2].tolist())
    return np.array([[np.bincount(hand, minlength=N_RANKS) for hand in of_role] for of_role in hands])


@kernel
def _uniform(word):
    """The next random number from 0 to 1 of the stream in ``word`` (1,)."""
    word[0] = mix(word[0] + GOLDEN)
    return np.float64(word[0] >> np.uint64(11)) / 2.0**53


@kernel
def _deal(play, counts, word, hand):
    """Draws the numbers of both hands: of hands drawn one by one those that fit beside each other."""
    while True:
        for role in range(2):
            added = play.dealt[role]
            hand[role] = np.searchsorted(added, _uniform(word) * added[-1], side="right")
        fits = 1.0  # the ways to draw the dealer's cards after pone's, of those before them
        for rank in range(N_RANKS):
            n_free = 4 - gone_of(play.start[GONE], rank)
            for k in range(counts[DEALER, hand[DEALER], rank]):
                fits *= max(n_free - counts[PONE, hand[PONE], rank] - k, 0) / (n_free - k)
        if _uniform(word) < fits:
            return


@kernel
def _weigh_evenly(held, low, high, weights):
    """Gives each rank held the same weight; returns their sum."""
    total = 0.0
    for rank in range(low, high):
        weights[rank] = 1.0 if held[rank] else 0.0
        total += weights[rank]
    return total


@kernel
def _sample(play, counts, tables, word_of_stream, inputs, chances):
    nodes, links, policy = play.tree.nodes, play.tree.links, play.policy
    word, hand = np.array([word_of_stream]), np.empty(2, np.int64)
    held, s = np.empty((2, N_RANKS), np.int64), np.empty(N_FIELDS, np.int64)
    ranks, roles, weights = np.empty(8, np.int64), np.empty(8, np.int64), np.empty(N_RANKS)
    n_rows = 0
    while n_rows < len(inputs):
        _deal(play, counts, word, hand)
        for role in range(2):
            held[role] = counts[role, hand[role]]
        wild = np.int64(2 * _uniform(word)) if _uniform(word) < _WILD_DEALS else -1
        s[:] = play.start
        at, n = 0, 0
        while at >= 0:
            node = nodes[at]
            role = np.int64(node["actor"])
            k, low, high = np.int64(node["n_cards"][role]), np.int64(node["floor"][role]), np.int64(node["high"])
            n_playable = tables.n_playable[k, high, hand[role]]
            if not n_playable:
                at = links[node["first_link"] + max(high - low, 0)]["to"]
                say_go(s)
                continue
            n_left, total = tables.n_hands[k - 1, low], 0.0
            for rank in range(low, high):
                left = tables.without_rank[k, rank, hand[role]]
                weights[rank] = 0.0
                if left >= 0 and k > 1:
                    weights[rank] = max(policy[node["first_slot"] + (rank - low) * n_left + left], np.float32(0))
                total += weights[rank]
            if total == 0.0:  # nothing to choose from, or a hand that the solution never plays to this node
                total = _weigh_evenly(held[role], low, high, weights)
            if n_playable > 1 and role != wild:
                write_inputs(s, ranks, roles, n, held[role], play.starter, inputs, n_rows)
                for rank in range(low, high):
                    chances[n_rows, rank] = np.uint8(np.rint(_MOST * weights[rank] / total))
                n_rows += 1
                if n_rows == len(inputs):
                    return
            if role == wild and _uniform(word) < _WILD_CARDS:
                total = _weigh_evenly(held[role], low, high, weights)
            left_of_it = _uniform(word) * total
            laid = -1
            for rank in range(low, high):
                if weights[rank] > 0.0:
                    laid = rank
                    left_of_it -= weights[rank]
                    if left_of_it < 0.0:
                        break
            held[role, laid] -= 1
            hand[role] = tables.without_rank[k, laid, hand[role]]
            at = links[node["first_link"] + laid - low]["to"]
            ranks[n], roles[n] = laid, role
            n += 1
            lay_rank(s, laid)


def decisions_of(game: str, settings: BestSettings, folder: Path, progress: Progress) -> Decisions:
    """Decisions of the pegging game, or of real deals, as many with each starter; from files in the folder, as far as
    they have been sampled before."""
    if game == "pegging":
        return _decisions(_NO_STARTER, settings, settings.decisions, folder / "pegging.npz", progress)
    each, starters = max(1, settings.decisions // N_RANKS), enumerate(RANKS)
    return joined([_decisions(k, settings, each, folder / f"{rank}.npz", progress) for k, rank in starters])


def _decisions(starter: int, settings: BestSettings, n: int, path: Path, progress: Progress) -> Decisions:
    if path.exists():
        return Decisions.load(path, n)
    found = solved(starter, settings, progress).sample(n, settings.seed * (N_RANKS + 1) + starter + 1)
    found.save(path)
    return found


def solved(starter: int, settings: BestSettings, progress: Progress) -> SolvedPlay:
    """The solution with a starter, or with -1 of the pegging game."""
    is_pegging = starter == _NO_STARTER
    iterations = settings.pegging_iterations if is_pegging else settings.iterations
    name = "the pegging game" if is_pegging else f"deals with starter {RANKS[starter]}"
    task = progress.add_task(f"solving {name}", total=iterations)
    start = start_of_play(starter=None if is_pegging else starter)
    game = PlayGame(None if is_pegging else prior_of_discards(starter), start, settings.threads)
    population = None
    if settings.simple_players and not is_pegging:
        population = Population(simple_policy(game, start), settings.simple_players)
    solver = PlaySolver(game, population)
    for _ in range(iterations):
        solver.iterate()
        progress.advance(task)
    progress.remove_task(task)
    return SolvedPlay.of(start, starter, game.prior, game.tree, solver.average)


def divergence(logits: torch.Tensor, chances: torch.Tensor) -> torch.Tensor:
    """Kullback–Leibler divergence (B,) of the policy with these logits (B, 13) from chances (B, 13)."""
    log_policy = torch.log_softmax(logits, dim=1).clamp(min=-100.0)  # -inf where a rank cannot be laid
    return (torch.special.xlogy(chances, chances) - chances * log_policy).sum(dim=1)


class Best(Parts):
    """The policies in training, with their optimizers."""

    Settings = BestSettings

    def __init__(self, settings: BestSettings) -> None:
        torch.set_num_threads(1)  # the settings' are the solver's
        self._settings, self._folder, self._progress = settings, Path(), Progress(disable=True)
        self.agent = BestAgent(dict.fromkeys(settings.games, settings.hidden))
        policies = self.agent.policies
        self.descents = {game: Descent(policies[game], "the policy network", decay=0.01) for game in settings.games}
        self._held: tuple[str, Decisions] | None = None
        super().__init__(policy=dict(policies), adam=self.descents)

    def own_loop(self, rounds: Rounds) -> None:
        """Keeps what is sampled from solutions in the run's folder until the end."""
        self._progress, self._folder = rounds.progress, rounds.folder.path / "decisions"
        self._folder.mkdir(exist_ok=True)
        rounds.run()
        shutil.rmtree(self._folder)

    def play_and_learn(self, now: Round) -> dict[str, float]:
        """Learns once from some of the decisions of a game, in batches; returns scalars for TensorBoard."""
        game, steps = self._settings.games[now.episodes_before // self._settings.episodes], []
        decisions = self._decisions_of(game)
        rows = now.rng.integers(len(decisions), size=now.episodes)
        for batch in batches_of(rows, self._settings.batch_size):
            inputs, chances = (torch.from_numpy(column) for column in decisions.at(batch))
            with precision(self._settings.precision):
                logits = self.agent.policies[game](inputs)
            loss = divergence(logits, chances).mean()
            norm = self.descents[game].step(loss, now.learning_rate)
            entropy = torch.special.entr(logits.detach().float().softmax(dim=1)).sum(dim=1).mean()
            steps.append({"loss": loss.item(), "gradient norm": norm, "entropy": entropy.item()})
        return mean_of_steps({"policy": steps})

    def _decisions_of(self, game: str) -> Decisions:
        """Those of one game at a time: they take gigabytes."""
        if self._held is None or self._held[0] != game:
            self._held = None
            self._held = game, decisions_of(game, self._settings, self._folder, self._progress)
        return self._held[1]
