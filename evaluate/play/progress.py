"""A person's games that have been looked through, kept on this machine, and what they say: errors, luck, a rating."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from crib_env.agents.choosing import six_dealt
from crib_env.cards import JACK
from crib_env.engine import DOUBLE_SKUNK, SKUNK, WIN
from crib_env.evaluate.files import plain
from crib_env.evaluate.play.coach import Coach
from crib_env.evaluate.play.levels import LEVELS
from crib_env.evaluate.play.saved_game import PERSON, SavedGame
from crib_env.evaluate.skill.analysis.decisions import KINDS
from crib_env.evaluate.skill.luck.variates import WINS
from crib_env.evaluate.statistics import Measured, mean_interval
from crib_env.files.json_text import parse_json
from crib_env.files.whole_file import add_lines
from crib_env.players.games import wilson_interval
from crib_env.tables.analysis import analyse_discard
from crib_env.values import typed

T = TypeVar("T")
NAME = "progress.jsonl"
_PARTS = ("hand", "crib", "play")
_ENOUGH = 10  # games before which nothing is said of luck: the interval of fewer says nothing
BEST_RATING = 2_000.0
"""The rating of ``best``; a player who beats it with chance p has 400 · log₁₀(p ÷ (1 − p)) more."""


class Losses(NamedTuple):
    """The decisions of one kind in a game, and the chance to win that they lost in all."""

    decisions: int
    chance: float


class Blunder(NamedTuple):
    """A costly decision of a game, for lessons to come."""

    at: int  # see SavedGame.decisions
    chance_lost: float
    reason: str  # of REASONS


class PlayedGame(NamedTuple):
    """What is kept of a finished game."""

    game: str  # its id
    opponent: str
    scores: tuple[int, int]  # the person's first
    losses: dict[str, Losses]  # by KINDS
    luck: float  # chance to win that the cards brought the person
    blunders: tuple[Blunder, ...] = ()
    against_par: tuple[float, float, float] | None = None  # points a deal of hand, crib and play


def played_game(coach: Coach) -> PlayedGame:
    """A finished game as it is kept."""
    game, notes, luck = coach.game, coach.notes(), coach.analysis().luck.sum(axis=(0, 1))
    own, other = game.games["scores"][0].tolist()
    losses = {}
    for kind in KINDS:
        lost = [note.decision.chance_lost for note in notes if note.decision.kind == kind]
        losses[kind] = Losses(len(lost), sum(lost))
    blunders = tuple(
        Blunder(note.at, note.decision.chance_lost, note.why.name)
        for note in notes
        if note.why and note.size == "blunder"
    )
    name, chance = game.names[1 - PERSON], float(luck[WINS])
    return PlayedGame(game.file.stem, name, (own, other), losses, chance, blunders, against_par(game))


def against_par(game: SavedGame) -> tuple[float, float, float] | None:
    """Net points a deal that hand, crib and play brought the person beyond what the best discard of its six cards
    brings on average; None without a deal that was counted to its end."""
    found: list[tuple[float, ...]] = []
    played = game.played
    for at in (at for at in game.decisions() if played[at].is_discard):
        view, before = played[at].view(), played[at].before
        deal = before["n_deals"][0]
        last = next((k for k, one in enumerate(played[at:], at) if one.before["n_deals"][0] != deal), 0) - 1
        if last < 0:
            break
        six, sign = six_dealt(view)[0].tolist(), 1 if view.is_dealer[0] else -1
        best = max(analyse_discard(six, dealer=sign > 0), key=lambda row: float(row["total"]))
        pegged, pones, dealers, crib = (_gained(*pair) for pair in pairwise([before, *played[last].stages()]))
        heels = 2 * (int(played[last].view().starter[0]) % 13 == JACK)
        hand, pegged = dealers if sign > 0 else pones, pegged - sign * heels
        parts = zip((hand, crib, pegged), (best["hand_mean"], sign * best["crib_expected"], best["pegging"]))
        found.append(tuple(made - float(expected) for made, expected in parts))
    if not found:
        return None
    hands, cribs, plays = map(_mean, zip(*found))
    return hands, cribs, plays


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _gained(before: np.ndarray, after: np.ndarray) -> int:
    """The person's points between two moments of a game, less the opponent's."""
    own, other = (after["scores"][0] - before["scores"][0]).tolist()
    return int(own - other)


def read_progress(folder: Path) -> list[PlayedGame]:
    """The games kept in a folder, the earliest first."""
    return read_lines(folder / NAME, PlayedGame, "a game that was looked through")


def read_lines(path: Path, kind: Callable[..., T], called: str) -> list[T]:
    """The lines of a file of JSON, each of a type; none if there is no file. A ValueError names a line that is not."""
    found: list[T] = []
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    for k, line in enumerate(lines, start=1):
        try:
            found.append(typed(parse_json(line), kind))
        except ValueError as error:
            raise ValueError(f"{path}, line {k}: it is not {called} ({error})") from None
    return found


def keep(folder: Path, game: PlayedGame) -> None:
    """Keeps a game, unless it is there already."""
    if all(game.game != kept.game for kept in read_progress(folder)):
        add_lines(folder / NAME, [json.dumps(plain(game))])


def loss_of(games: Sequence[PlayedGame], kinds: Sequence[str] = KINDS) -> Measured | None:
    """The chance to win that a decision of these kinds loses on average; None without a decision."""
    counts = np.array([sum(game.losses[kind].decisions for kind in kinds) for game in games])
    lost = [sum(game.losses[kind].chance for kind in kinds) for game in games]
    return Measured.ratio(lost, counts) if lost and counts.sum() else None


def rating_of_loss(loss: float) -> float:
    """The rating of a player whose decisions lose so much chance to win: between those of the levels, or at an end."""
    rates, losses = [level.against_best for level in LEVELS], [level.loss for level in LEVELS]
    ratings = [BEST_RATING + 400 * math.log10(rate / (1 - rate)) for rate in rates]
    return float(np.interp(loss, losses[::-1], ratings[::-1]))


class Rating(NamedTuple):
    """How strong a player is by its errors, with a 95 % interval, and the strongest level that is not stronger."""

    rating: float
    low: float
    high: float
    level: str


def rating(games: Sequence[PlayedGame]) -> Rating | None:
    """From the errors of all games; None before there are two."""
    loss = loss_of(games)
    if loss is None or loss.half_width is None:
        return None
    found, low, high = (rating_of_loss(loss.mean + end * loss.half_width) for end in (0, 1, -1))
    return Rating(found, low, high, [level.name for level in LEVELS if rating_of_loss(level.loss) <= found][-1])


def charts(games: Sequence[PlayedGame]) -> list[dict[str, Any]]:
    """How the person's figures have gone, if there are two games or more, the earliest first: each with a title, dots
    of the games, and a line over each game and up to nine before it. A rating has no dots: one game has none."""
    pars = [game.against_par for game in games if game.against_par]
    single = {
        "a decision loses, % points to win": [100 * loss.mean for game in games if (loss := loss_of([game]))],
        "luck, % points to win": [100 * game.luck for game in games],
        **{f"{name} against par, points a deal": [par[k] for par in pars] for k, name in enumerate(_PARTS)},
    }
    figures = [("rating", list[float](), [one.rating for few in _lately(games) if (one := rating(few))])]
    figures += [(title, dots, [*map(_mean, _lately(dots))]) for title, dots in single.items()]
    return [{"title": title, "dots": dots, "line": line} for title, dots, line in figures if len(line) > 1]


def _lately(values: Sequence[T]) -> Iterator[Sequence[T]]:
    return (values[max(0, k - 9) : k + 1] for k in range(len(values)))


def progress_rows(games: Sequence[PlayedGame]) -> Iterator[tuple[str, str]]:
    """What the games say, in words and figures with 95 % intervals."""
    n, won = len(games), sum(game.scores[0] == WIN for game in games)
    low, high = wilson_interval(won / n, n)
    yield "games won", f"{won} of {n} ({100 * low:.0f} to {100 * high:.0f} %)"
    for title, own in (("skunks given", 1), ("skunks suffered", 0)):
        losers = [game.scores[own] for game in games]
        double = sum(score <= DOUBLE_SKUNK for score in losers)
        yield title, f"{sum(score <= SKUNK for score in losers)}" + (f", {double} of them double" if double else "")
    for kind, title in zip(KINDS, ("a discard loses", "a card of the play loses")):
        if loss := loss_of(games, [kind]):
            lost, half = 100 * loss.mean, 100 * (loss.half_width or 0)
            interval = f" ({max(0.0, lost - half):.2f} to {lost + half:.2f})" if half else ""
            yield title, f"{lost:.2f}{interval} % points to win, {loss.sample} decisions"
    if n >= _ENOUGH:
        luck = 100 * np.array([game.luck for game in games])
        low, high = mean_interval(luck)
        yield "luck of a game", f"{luck.mean():+.1f} ({low:+.1f} to {high:+.1f}) % points to win"
