"""A game between a person and an agent that outlives its process: it is written to a file after every card."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from crib_env import GameBatch, PlayerViews, format_card, parse_card, parse_cards, streams
from crib_env.agents import Agent, make_agent
from crib_env.agents.registry import check_names_of_file, is_outside_agent
from crib_env.engine import DISCARD, EVENTS, OVER, SHOWN, WIN
from crib_env.evaluate.files import held, lock_of, write_json
from crib_env.evaluate.matches import muggins
from crib_env.evaluate.matches.game_records import GameRecord, Recorder, add_records
from crib_env.evaluate.matches.muggins import HANDS, Hand, Missed, check_missed, hands_counted, hands_shown
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
Counting = Literal["table", "hand", "muggins"]
"""Who counts the hands of the show: the table; the person its own; both, and each claims what the other has missed."""
Score = Annotated[int, Range(0, WIN - 1)]
FINISHED = "finished"
"""Folder of finished games, within that of the others."""
_LONGEST = 20  # letters of a name
_DEALT = 13  # cards: six for each player, and the starter
_ROW = np.zeros(1, np.int64)


@dataclass(frozen=True)
class GameSoFar:
    """What the file of a game holds."""

    agent: str
    """As :func:`crib_env.agents.make_agent` takes it; it has seat 1."""
    seed: Seed
    """Of the deals."""
    first_dealer: Annotated[int, Range(0, 1)] | None
    """A seat, or None for a cut."""
    scores: tuple[Score, Score]
    """At the start: the person's, the agent's."""
    cards: tuple[str, ...]
    """All that were discarded and laid, by both, in order."""
    practice: bool = False
    """Whether cards may be taken back; such a game is not recorded."""
    coach: Coaching = "on"
    counting: Counting = "table"
    missed: tuple[Missed, ...] = ()
    """What has been overlooked, with muggins."""
    counted: Annotated[int, Range(0, SHOWN)] = SHOWN
    """Hands of the last show that have been counted, if they are counted by hand."""
    deals: tuple[str, ...] = ()
    """The first deals of an imported game, thirteen cards each; those after them follow from the seed."""
    opponent: str = ""
    """Who played against the person in an imported game; otherwise it is the agent."""
    people: tuple[str, ...] = ()
    """The names of two people at one machine, by seat; the agent then has nothing to say."""
    day: str = ""
    """As in 2026-01-31: the game is the one deal of this day (:mod:`crib_env.evaluate.play.given_deals`)."""
    standing: tuple[int, int] = (0, 0)
    """The scores after these cards, by seat."""
    deal: int = 1
    """The number of the deal after these cards."""

    def __post_init__(self) -> None:
        if self.agent.partition(":")[0] == "human":
            raise ValueError("agent 'human' is not allowed: you are the human here")
        if not self.opponent.isprintable():
            raise ValueError(f"opponent={self.opponent!r} is not allowed: give a name without invisible characters")
        are_names = all(1 <= len(name) <= _LONGEST and name.isprintable() for name in self.people)
        if self.people and not (are_names and len({*self.people}) == 2):
            raise ValueError(f"people={self.people} is not allowed: give two different names, up to {_LONGEST} letters")
        if self.people and (self.practice, self.counting, self.coach) != (False, "table", "off"):
            raise ValueError("a game of two people is no practice, the table counts for both, and there is no coach")
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

    before: np.ndarray
    """(1,) the record of the game before it."""
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


class Show:
    """A show that is counted by hand, and how far: whose count is due, and what a weaker agent says of its own hand.

    The engine counts all hands in one step, after the last card of a deal. So that card, which is never a choice, is
    held back until all is said; what was missed is then written to the game, and the card laid. A show ends early where
    a peg reaches the last hole, also by muggins.

    Args:
        before: (1,) the game before the last card of a deal, with what is missed in it.
        card: that card.
        counted: how many hands have been counted.

    Attributes:
        stages: the game after the last card, and after each hand that has been counted.
        hand: what is to be counted next, if anything is.
    """

    def __init__(self, before: np.ndarray, card: int, counted: int) -> None:
        self.counted = counted
        self.stages = list(stages(before, card))[: counted + 1]
        self.hand = hands_shown(before)[counted]

    @property
    def games(self) -> np.ndarray:
        """(1,) as it stands."""
        return self.stages[-1]

    @property
    def laid_open(self) -> np.ndarray:
        """(1,) the game with this hand face up, not yet counted."""
        games = self.games.copy()
        games["n_events"], games["event_points"][0, 0] = 1, 0
        games["event_player"][0, 0], games["event_kind"][0, 0] = self.hand.owner, EVENTS.index(self.hand.name)
        return games

    def said_by(self, agent: str, seed: int) -> int:
        """What an agent says of this hand in the game of a seed: each of its items is overlooked with the same chance
        (:attr:`Level.overlooks`); none is seen that is not there."""
        level, hand = level_of(agent), self.hand
        chance = Random(f"{seed} {self.games['n_deals'][0]} {hand.name}")
        return sum(item.points for item in hand.items if not (level and chance.random() < level.overlooks))


class Count(NamedTuple):
    """A hand that has been counted, and what the other said to it."""

    hand: Hand
    said: int
    """By its owner."""
    asked: int
    """For so many points that were missed."""

    @property
    def missed(self) -> int:
        """Points that the owner does not peg. Who says too much pegs what is there."""
        return max(0, self.hand.points - self.said)

    @property
    def claimed(self) -> int:
        """Points that the other is granted; none if more were asked for than are missed."""
        return self.asked if self.asked <= self.missed else 0


class SavedGame:
    """A game; :meth:`begin_in` and :meth:`resume` make one, which no other process can open before :meth:`close`.

    Args:
        so_far: the game; its cards are played again.
        agent: the opponent.
        file: where it is kept.

    Raises:
        ValueError: a card is not legal.

    Attributes:
        played: every card so far, in order.
        show: the show, while it is counted by hand.
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
        self.show: Show | None = None
        for k, card in enumerate(so_far.cards, start=1):
            if self.is_over:
                raise ValueError("there are cards after its end")
            if self.turn == AGENT and agent.powers.remembers and not so_far.people:
                self.agents_card()  # its choice stands in the file
            played = self._next(parse_card(card))
            counted = so_far.counted if k == len(so_far.cards) else SHOWN
            self._apply(so_far, played, _show_after(so_far, played, counted))
        now = int(self.games["n_deals"][0]), self.show.counted if self.show else SHOWN * self.is_over
        for one in so_far.missed:
            if (one.deal, HANDS.index(one.hand)) >= now:
                raise ValueError(f"deal {one.deal}: {one.hand} has not been counted, and points of it are missed")

    @classmethod
    def begin_in(cls, so_far: GameSoFar, folder: Path) -> SavedGame:
        """A new game, kept from now on in a new file of a folder.

        Raises:
            ValueError: the agent cannot be made, an option is not allowed, or the file cannot be written.
        """
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
        """The game in a file, if its agent may be made (:func:`read_game_to_resume`).

        Raises:
            ValueError: it holds no such game, or another process has opened it.
        """

        def build(content: Any) -> SavedGame:
            so_far = _to_resume(content, said, file)
            return cls(so_far, make_agent(so_far.agent), file)

        with ExitStack() as lock:
            if file.is_file() and file.parent.name != FINISHED:  # nobody plays on in a finished game
                lock.enter_context(held(file))
            game = read_json(file, _FAULT.format(file), build)
            game._lock = lock.pop_all()
        return game

    def close(self) -> None:
        """Lets other processes open the game."""
        self._lock.close()

    @property
    def so_far(self) -> GameSoFar:
        """As it stands."""
        return _as_it_stands(self._so_far, self.played, self.show, self.games)

    @property
    def games(self) -> np.ndarray:
        """(1,) the record of the game."""
        return self.show.games if self.show else self._batch.games

    @property
    def turn(self) -> int:
        """The seat to act; -1 while hands are counted."""
        return -1 if self.show else int(self.games["turn"][0])

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
        """Plays a card of the player who is to act, and keeps the game.

        Raises:
            ValueError: the card is not legal; nothing has changed.
            OSError: the file cannot be written; nothing has changed.
        """
        self._take(self._so_far, self._next(card), 0)

    @property
    def place(self) -> tuple[int, int]:
        """How much has happened: cards played whose stages are all over, and stages of the one that is counted."""
        return (len(self.played) - 1, len(self.show.stages)) if self.show else (len(self.played), 0)

    def stages(self, n: int) -> list[np.ndarray]:
        """The ``n``-th card (from 0) step by step (:func:`crib_env.picture.seen.stages`), as far as it is counted."""
        if self.show and n == len(self.played) - 1:
            return self.show.stages
        return list(stages(self.played[n].before, self.played[n].card))

    def count(self, points: int) -> Count:
        """Counts the hand that is due, and keeps the game.

        Args:
            points: of the person's own hand, what it says; of the agent's, what it claims that the agent has missed.

        Raises:
            ValueError: there is nothing to count; nothing has changed.
            OSError: the file cannot be written; nothing has changed.
        """
        if self.show is None:
            raise ValueError("there is nothing to count now")
        hand, has_muggins = self.show.hand, self._so_far.counting == "muggins"
        if hand.owner == PERSON:
            count = Count(hand, points, max(0, hand.points - points) * has_muggins)
        else:
            count = Count(hand, self.agents_count(), points)
        missed = self._so_far.missed
        if count.missed and has_muggins:
            missed += (Missed(int(self.games["n_deals"][0]), hand.name, count.missed, count.claimed),)
        before = self.played[-1].before.copy()
        muggins.write_missed(before, missed)
        self._take(replace(self._so_far, missed=missed), self.played[-1]._replace(before=before), self.show.counted + 1)
        return count

    def agents_count(self) -> int:
        """What the agent says of its own hand, if that is due."""
        return self.show.said_by(self._so_far.agent, self._so_far.seed) if self.show else 0

    def check(self, card: int) -> None:
        """Checks that the player who is to act may play a card.

        Raises:
            ValueError: it is not legal, or hands are to be counted first.
        """
        if self.show:
            raise ValueError("count the hands first")
        legal = self.view(self.turn).action_mask[0]
        if not 0 <= card < len(legal) or not legal[card]:
            raise ValueError(f"{format_card(card)} is not legal")

    def _next(self, card: int) -> Played:
        """A legal card of the player who is to act, not played yet."""
        self.check(card)
        before = self.games.copy()
        muggins.write_missed(before, self._so_far.missed)
        if _is_last(before):
            check_missed(before, HANDS, self._so_far.missed)
        return Played(before, int(before["turn"][0]), int(card))

    def _take(self, so_far: GameSoFar, played: Played, counted: int) -> None:
        """Plays a card, or goes on with its show after so many hands; what cannot be kept does not happen."""
        show = _show_after(so_far, played, counted)
        after = show.games if show else [*stages(played.before, played.card)][-1]
        cards = [*(self.played[:-1] if self.show else self.played), played]
        self._keep(_as_it_stands(so_far, cards, show, after))
        self._apply(so_far, played, show)

    def _apply(self, so_far: GameSoFar, played: Played, show: Show | None) -> None:
        """The same, if it is kept. The engine has the last card of a deal when its show is over."""
        if self.show:
            del self.played[-1]
        self.played.append(played)
        self._so_far, self.show = so_far, show
        if show:
            return
        before, cards = played.before, np.array([played.card])
        self._recorder.note(_ROW, cards)
        self._batch.games["missed"], self._batch.games["claimed"] = before["missed"], before["claimed"]
        self._batch.step(_ROW, cards)
        is_next_deal = self.games["n_deals"][0] != before["n_deals"][0]
        if is_next_deal or self.is_over:
            check_missed(before, hands_counted(self.games), so_far.missed)
        if is_next_deal:
            self._deal()
        self._observers.tell(_ROW, before.copy(), cards)  # it plays on with what it is given

    def _deal(self) -> None:
        """Deals the cards of an imported game in place of those that follow from the seed."""
        games = self._batch.games
        if (number := int(games["n_deals"][0]) - 1) < len(self._deals):
            games["cards"][0] = cards = self._deals[number]
            games["hand"][0] = mask_of(np.array(cards[:6])), mask_of(np.array(cards[6:12]))

    def set(self, coach: Coaching, counting: Counting) -> None:
        """Changes the settings of the coach and of counting.

        Raises:
            OSError: the file cannot be written; nothing has changed.
        """
        so_far = replace(self._so_far, coach=coach, counting=counting)
        if self.show:
            self._take(so_far, self.played[-1], self.show.counted)
        else:
            self._keep(replace(self.so_far, coach=coach, counting=counting))
            self._so_far = so_far

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
        before = self.played[n].before if n < len(self.played) else self.games
        missed = tuple(one for one in now.missed if one.deal < before["n_deals"][0])
        return replace(now, cards=now.cards[:n], counted=SHOWN, missed=missed, **changes)

    def last_choice(self) -> int | None:
        """The last decision that may be taken back: of a practice game that is not over, one between several cards."""
        if self.is_over or not self._so_far.practice:
            return None
        return next((k for k in reversed(self.decisions()) if self.played[k].view().action_mask[0].sum() > 1), None)

    def taken_back(self) -> SavedGame:
        """The game before :meth:`last_choice`, which is kept in the place of this one.

        Raises:
            ValueError: it is not a practice game, or there is nothing to take back.
            OSError: a file cannot be written; nothing has changed.
        """
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
        return replace(self._recorder.records(self._so_far.seed, [players])[0], missed=self._so_far.missed)

    def finish(self, file: Path) -> None:
        """Adds the finished game to a file of records, if it counts, and puts its own away.

        It can be called again, whatever failed: the game is added once.

        Raises:
            ValueError, OSError: a file cannot be written.
        """
        if self.file.parent.name == FINISHED:
            return
        away, lock = self.file.parent / FINISHED, lock_of(self.file)
        away.mkdir(exist_ok=True)
        if self._so_far.counts:
            record, now = self.record(), self.so_far
            was_over = now.cards == self._so_far.cards  # when it was read, or at the call before
            if not (was_over and file.exists() and record.to_line().encode() in file.read_bytes().splitlines()):
                add_records(file, [record])
            self._so_far = now
        self.file = self.file.replace(away / self.file.name)
        self.close()
        lock.unlink(missing_ok=True)


_FAULT = "{} is not a game to go on with"


def read_game(file: Path) -> GameSoFar:
    """What the file of a game holds; its cards are not checked.

    Raises:
        ValueError: it holds no such thing.
    """
    return read_json(file, _FAULT.format(file), lambda content: typed(content, GameSoFar))


def read_game_to_resume(file: Path, said: str | None) -> GameSoFar:
    """The same, if its agent may be made.

    Args:
        file: as it was kept.
        said: the agent that the user has named beside it. It must be the game's, and has to be named if it is code of
            the user's own (:func:`crib_env.agents.registry.check_names_of_file`).

    Raises:
        ValueError: it holds no game, or the game of another agent.
    """
    return read_json(file, _FAULT.format(file), lambda content: _to_resume(content, said, file))


def _to_resume(content: Any, said: str | None, file: Path) -> GameSoFar:
    so_far = typed(content, GameSoFar)
    if said is not None and said != so_far.agent:
        raise ValueError(f"its agent is {so_far.agent}, not {said}: leave it out, or name {so_far.agent}")
    check_names_of_file([so_far.agent], {so_far.agent} & {said} if is_outside_agent(so_far.agent) else (), file)
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


def _as_it_stands(so_far: GameSoFar, played: Sequence[Played], show: Show | None, games: np.ndarray) -> GameSoFar:
    own, other = games["scores"][0].tolist()
    cards, deal = tuple(format_card(one.card) for one in played), int(games["n_deals"][0])
    return replace(so_far, cards=cards, counted=show.counted if show else SHOWN, standing=(own, other), deal=deal)


def _is_last(before: np.ndarray) -> bool:
    """Whether the next card is the last of a deal."""
    return bool(before["n_laid"][0] == before["laid"].shape[1] - 1)


def _show_after(so_far: GameSoFar, played: Played, counted: int) -> Show | None:
    """The show after so many hands or more, when a person is asked about the next one; None where nobody is asked."""
    if so_far.counting == "table" or not _is_last(played.before):
        return None
    for done in range(counted, SHOWN):
        show = Show(played.before, played.card, done)
        if show.games["phase"][0] == OVER:
            break
        if so_far.counting == "muggins" or show.hand.owner == PERSON:
            return show
    return None
