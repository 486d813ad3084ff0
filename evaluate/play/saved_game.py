"""A game between a person and an agent that outlives its process: it is written to a file after every card."""

from __future__ import annotations

import itertools
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from crib_env import GameBatch, PlayerViews, format_card, parse_card, parse_cards, streams
from crib_env.agents import Agent, make_agent
from crib_env.agents.registry import check_names_of_file, is_outside_agent
from crib_env.engine import DISCARD, OVER, WIN
from crib_env.evaluate.files import held, lock_of, write_json
from crib_env.evaluate.matches.game_records import GameRecord, Recorder, add_records
from crib_env.evaluate.play.levels import level_of
from crib_env.files.json_text import read_json
from crib_env.kernels import mask_of
from crib_env.picture.seen import stages
from crib_env.players.games import Observers
from crib_env.values import Range, Seed, typed
from crib_env.views import views_of

PERSON, AGENT = range(2)  # seats
Dealer = Literal["cut", "me", "agent"]
DEALERS: dict[Dealer, int | None] = {"cut": None, "me": PERSON, "agent": AGENT}
"""Who deals first, in the words of a command."""
Coaching = Literal["off", "blunders", "deal", "on", "before"]
"""When the coach speaks: not at all, after blunders, at the end of the deal, after each decision, or before it too."""
Score = Annotated[int, Range(0, WIN - 1)]
FINISHED = "finished"
"""Folder of finished games, within that of the others."""
_LONGEST = 20  # letters of a name
_DEALT = 13  # cards: six for each player, and the starter
_ROW = np.zeros(1, np.int64)


@dataclass(frozen=True)
class GameSoFar:
    """What the file of a game holds."""

    agent: str  # as make_agent takes it; it has seat 1
    seed: Seed  # of the deals
    first_dealer: Annotated[int, Range(0, 1)] | None  # a seat, or None for a cut
    scores: tuple[Score, Score]  # at the start: the person's, the agent's
    cards: tuple[str, ...]  # all that were discarded and laid, by both, in order
    practice: bool = False  # whether cards may be taken back; such a game is not recorded
    coach: Coaching = "on"
    deals: tuple[str, ...] = ()
    """The first deals of an imported game, thirteen cards each; those after them follow from the seed."""
    opponent: str = ""
    """Who played against the person in an imported game; otherwise it is the agent."""
    people: tuple[str, ...] = ()
    """The names of two people at one machine, by seat; the agent then has nothing to say."""
    day: str = ""
    """As in 2026-01-31: the game is the one deal of this day (:mod:`crib_env.evaluate.play.given_deals`)."""
    standing: tuple[int, int] = (0, 0)  # the scores after these cards, by seat
    deal: int = 1  # the number of the deal after these cards

    def __post_init__(self) -> None:
        if self.agent.partition(":")[0] == "human":
            raise ValueError("agent 'human' is not allowed: you are the human here")
        if not self.opponent.isprintable():
            raise ValueError(f"opponent={self.opponent!r} is not allowed: give a name without invisible characters")
        if self.people:
            names = f"give two different names, up to {_LONGEST} letters"
            are_names = all(1 <= len(name) <= _LONGEST and name.isprintable() for name in self.people)
            if not are_names or len({*self.people}) != 2:
                raise ValueError(f"people={self.people} is not allowed: {names}")
            if self.practice or self.coach != "off":
                raise ValueError("a game of two people is no practice, and there is no coach")
        if wrong := next((deal for deal in self.deals if len(parse_cards(deal)) != _DEALT), None):
            raise ValueError(f"deals: {wrong!r} is not allowed: a deal has {_DEALT} cards")

    @property
    def counts(self) -> bool:
        """Whether it is recorded when it is over, and is part of the person's progress."""
        return not (self.practice or self.people or self.day)

    @property
    def other(self) -> str:
        """Who plays against the person: the name of a level, or of an agent."""
        level = level_of(self.opponent or self.agent)
        return level.name if level else self.opponent or self.agent


class Played(NamedTuple):
    """A card that was discarded or laid."""

    before: np.ndarray  # (1,) the record of the game before it
    seat: int
    card: int

    @property
    def is_discard(self) -> bool:
        """Whether it went to the crib."""
        return bool(self.before["phase"][0] == DISCARD)

    @property
    def is_second(self) -> bool:
        """Whether it is the second card of a discard, which is one decision."""
        return self.is_discard and bool(self.before["discards"][0, self.seat])

    def view(self) -> PlayerViews:
        """What its player saw, one decision."""
        return views_of(self.before, _ROW, _ROW + self.seat, _ROW)

    def stages(self) -> list[np.ndarray]:
        """What follows from it, step by step (:func:`crib_env.picture.seen.stages`)."""
        return list(stages(self.before, self.card))


class SavedGame:
    """A game, whose cards so far (``played``) are played again; an illegal one is a ValueError.

    :meth:`begin_in` and :meth:`resume` make one that no other process can open before :meth:`close`.
    """

    def __init__(self, so_far: GameSoFar, agent: Agent, file: Path) -> None:
        self.file, self.agent, self._so_far = file, agent, so_far
        seeds, episode = streams(so_far.seed, 1), "deal" if so_far.day else "game"
        self._batch = GameBatch(seeds, episode=episode, first_dealer=so_far.first_dealer, scores=so_far.scores)
        self._deals = [parse_cards(deal) for deal in so_far.deals]
        self._deal()
        self._recorder = Recorder(self._batch)
        self._observers = Observers(self._batch, (agent, np.array([AGENT])))
        self._lock = ExitStack()
        self.played: list[Played] = []
        for card in so_far.cards:
            if self.is_over:
                raise ValueError("there are cards after its end")
            if self.turn == AGENT and agent.powers.remembers and not so_far.people:
                self.agents_card()  # its choice stands in the file
            self._apply(self._next(parse_card(card)))

    @classmethod
    def begin_in(cls, so_far: GameSoFar, folder: Path) -> SavedGame:
        """A new game, kept from now on in a new file of a folder."""
        game = cls(so_far, make_agent(so_far.agent), folder)
        game.file = _new_file(folder)
        try:
            game._lock.enter_context(held(game.file))
            game._keep(game.so_far)
        except BaseException:
            game.delete()
            raise
        return game

    @classmethod
    def resume(cls, file: Path, said: str | None) -> SavedGame:
        """The game in a file, if its agent may be made (:func:`read_game_to_resume`), and no process has opened it."""
        with ExitStack() as lock:
            if file.is_file() and file.parent.name != FINISHED:  # nobody plays on in a finished game
                lock.enter_context(held(file))
            so_far = read_game_to_resume(file, said)
            try:
                game = cls(so_far, make_agent(so_far.agent), file)
            except ValueError as error:
                raise ValueError(f"{_FAULT.format(file)} ({error})") from None
            game._lock = lock.pop_all()
        return game

    def close(self) -> None:
        """Lets other processes open the game."""
        self._lock.close()

    @property
    def so_far(self) -> GameSoFar:
        """As it stands."""
        return self._as_of(self.played, self.games)

    @property
    def games(self) -> np.ndarray:
        """(1,) the record of the game."""
        return self._batch.games

    @property
    def turn(self) -> int:
        """The seat to act."""
        return int(self.games["turn"][0])

    @property
    def is_over(self) -> bool:
        """Whether a player has won."""
        return bool(self.games["phase"][0] == OVER)

    @property
    def names(self) -> tuple[str, str]:
        """By seat."""
        first, second = self._so_far.people or ("you", self._so_far.other)
        return first, second

    def view(self, seat: int = PERSON) -> PlayerViews:
        """What a player sees, one decision."""
        return views_of(self.games, _ROW, _ROW + seat, self._batch.game_ids)

    def agents_card(self) -> int:
        """The agent's choice, where it is to act."""
        return int(self.agent.act(self._batch.views(_ROW))[0])

    def play(self, card: int) -> None:
        """Plays a card of the player who is to act, and keeps the game; after an error nothing has changed.

        Raises:
            ValueError: the card is not legal.
            OSError: the file cannot be written.
        """
        played = self._next(card)
        self._keep(self._as_of([*self.played, played], played.stages()[-1]))
        self._apply(played)

    def check(self, card: int) -> None:
        """A ValueError if the player who is to act may not play a card."""
        legal = self.view(self.turn).action_mask[0]
        if not 0 <= card < len(legal) or not legal[card]:
            raise ValueError(f"{format_card(card)} is not legal")

    def _next(self, card: int) -> Played:
        """A legal card of the player who is to act, not played yet."""
        self.check(card)
        return Played(self.games.copy(), self.turn, int(card))

    def _apply(self, played: Played) -> None:
        self.played.append(played)
        before, cards = played.before, np.array([played.card])
        self._recorder.note(_ROW, cards)
        self._batch.step(_ROW, cards)
        if self.games["n_deals"][0] != before["n_deals"][0]:
            self._deal()
        self._observers.tell(_ROW, before.copy(), cards)  # it plays on with what it is given

    def _deal(self) -> None:
        """Deals the cards of an imported game in place of those that follow from the seed."""
        games = self._batch.games
        if (number := int(games["n_deals"][0]) - 1) < len(self._deals):
            games["cards"][0] = cards = self._deals[number]
            games["hand"][0] = mask_of(np.array(cards[:6])), mask_of(np.array(cards[6:12]))

    def set(self, coach: Coaching) -> None:
        """Changes when the coach speaks; after an OSError nothing has changed."""
        self._keep(replace(self.so_far, coach=coach))
        self._so_far = replace(self._so_far, coach=coach)

    def _as_of(self, played: list[Played], games: np.ndarray) -> GameSoFar:
        """The game after these cards, which led to ``games``."""
        own, other = games["scores"][0].tolist()
        cards, deal = tuple(format_card(one.card) for one in played), int(games["n_deals"][0])
        return replace(self._so_far, cards=cards, standing=(own, other), deal=deal)

    def _keep(self, so_far: GameSoFar) -> None:
        write_json(self.file, so_far)

    def decisions(self) -> list[int]:
        """Where in :attr:`played` the person decided something: a discard is one decision about two cards."""
        return [k for k, one in enumerate(self.played) if one.seat == PERSON and not one.is_second]

    def view_at(self, n: int) -> tuple[PlayerViews, tuple[int, ...]]:
        """What the person saw at a decision (:meth:`decisions`), and what it chose; a ValueError if there was none."""
        if n not in self.decisions():
            raise ValueError(f"at={n} is not allowed: it was no decision of yours")
        chosen = self.played[n : n + 1 + self.played[n].is_discard]
        return chosen[0].view(), tuple(played.card for played in chosen)

    def until(self, n: int, **changes: Any) -> GameSoFar:
        """The game before its ``n``-th card (from 0), with some fields changed."""
        now = self.so_far
        return replace(now, cards=now.cards[:n], **changes)

    def last_choice(self) -> int | None:
        """The last decision that may be taken back: of a practice game that is not over, one between several cards."""
        if self.is_over or not self._so_far.practice:
            return None
        return next((k for k in reversed(self.decisions()) if self.played[k].view().action_mask[0].sum() > 1), None)

    def taken_back(self) -> SavedGame:
        """The game before :meth:`last_choice`, kept in the place of this one; a ValueError if there is none."""
        if not self._so_far.practice:
            raise ValueError("cards can be taken back in a practice game only")
        if (last := self.last_choice()) is None:
            raise ValueError("there is no card to take back")
        so_far = self.until(last)
        game = SavedGame(so_far, make_agent(so_far.agent), self.file)
        game._keep(so_far)
        game._lock = self._lock.pop_all()
        return game

    def delete(self) -> None:
        """Deletes its file, or raises an OSError."""
        self.file.unlink(missing_ok=True)
        self.close()
        lock_of(self.file).unlink(missing_ok=True)

    def record(self) -> GameRecord:
        """The finished game as matches record it."""
        players = self.names if self._so_far.people else ("human", self._so_far.opponent or self.agent.name)
        return self._recorder.records(self._so_far.seed, [players])[0]

    def finish(self, file: Path) -> None:
        """Adds the finished game to a file of records, if it counts, and puts its own away.

        It can be called again, whatever failed: the game is added once.
        """
        if self.file.parent.name == FINISHED:
            return
        away, lock = self.file.parent / FINISHED, lock_of(self.file)
        away.mkdir(exist_ok=True)
        if self._so_far.counts:
            record = self.record()
            if not (file.exists() and record.to_line().encode() in file.read_bytes().splitlines()):
                add_records(file, [record])
        self.file = self.file.replace(away / self.file.name)
        self.close()
        lock.unlink(missing_ok=True)


_FAULT = "{} is not a game to go on with"


def read_game(file: Path) -> GameSoFar:
    """What the file of a game holds; its cards are not checked."""
    return read_json(file, _FAULT.format(file), lambda content: typed(content, GameSoFar))


def read_game_to_resume(file: Path, said: str | None) -> GameSoFar:
    """The same, if its agent may be made; ``said``: the agent that the user has named beside the file.

    That must be the game's. Code of the user's own has to be named (:func:`check_names_of_file`).
    """
    agent = (so_far := read_game(file)).agent
    if said is not None and said != agent:
        raise ValueError(f"the agent of {file} is {agent}, not {said}: leave it out, or name {agent}")
    check_names_of_file([agent], {agent} & {said} if is_outside_agent(agent) else (), file)
    return so_far


def _new_file(folder: Path) -> Path:
    """An empty file that no other game of the folder has, finished ones included."""
    (folder / FINISHED).mkdir(parents=True, exist_ok=True)
    now = time.strftime("%Y%m%d-%H%M%S")
    for k in itertools.count(1):
        file = folder / (f"{now}.json" if k == 1 else f"{now}-{k}.json")
        with suppress(FileExistsError):
            if not (folder / FINISHED / file.name).exists():
                file.touch(exist_ok=False)
                break
    return file
