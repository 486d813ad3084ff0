"""Players that decide one hand at a time, and their views: the cards kept, goes, and the ranks of the count."""

import copy

import numpy as np
import pytest

import crib_env
from crib_env.agents import Agent, make_agent
from crib_env.batch import GameBatch
from crib_env.evaluate.matches.match import play_match
from crib_env.kernels import streams
from crib_env.players.one_at_a_time import Decision
from tests.helpers.refusals import refused


class Greedy:
    """``greedy`` as a player that decides one hand at a time; it returns cards in every form that is accepted."""

    name = "greedy in hands"

    def __init__(self):
        self.agent, self.throws = make_agent("greedy"), 0

    def throw(self, view):
        assert len(view.hand) == 6
        assert view.discards == view.kept == view.laid == ()
        assert view.legal == view.hand
        assert view.starter is None
        self.throws += 1
        rows = crib_env.discard_statistics([view.hand])[0]
        best = max(range(15), key=lambda k: (self.worth(rows[k], view), -k))
        pair = [view.hand[k] for k in self.PLACES[best]]
        return (
            pair,
            tuple(np.array(pair)),
            " ".join(map(crib_env.format_card, pair)),
            [crib_env.format_card(card) for card in pair],
        )[view.decision // 12 % 4]

    PLACES = [(i, j) for i in range(6) for j in range(i + 1, 6)]

    def worth(self, row, view):
        return round(row["hand_mean"] + (row["crib_mean"] if view.is_dealer else 0), 9)

    def lay(self, view):
        assert set(view.hand) <= set(view.kept)
        assert len(view.kept) == 4
        assert len(view.discards) == 2
        pile = view.laid[len(view.laid) - len(view.pile_ranks) :]
        best = max(
            view.legal,
            key=lambda card: (crib_env.score_play([*pile, card]), min(card % 13 + 1, 10), -card),
        )
        return crib_env.format_card(best) if view.decision % 2 else np.int64(best)


def test_a_one_at_a_time_player_plays_like_the_agent_it_copies():
    player = Greedy()
    agent = crib_env.OneAtATime(player)
    assert isinstance(agent, Agent)
    result = play_match(agent, make_agent("greedy"), 12, seed=2)
    assert result.a == "greedy in hands"
    assert result.margin == 0  # the same choices: every pair is split
    assert result.win_rate == 0.5
    deals = result.deals_per_game * 12
    assert player.throws == pytest.approx(deals)  # once a deal, though two cards are asked for


def test_it_plays_one_decision_at_a_time_and_both_seats_of_one_game():
    player = Greedy()
    agent, env = crib_env.OneAtATime(player), crib_env.env()
    env.reset(seed=3)
    for seat in env.agent_iter():
        over = env.last()[2]
        env.step(None if over else agent.act(env.views(seat))[0])
    assert max(env.scores) == 121


class Says:
    """Throws and lays what it is told to."""

    name = "says"

    def __init__(self, throw=None, lay=None):
        self.throw, self.lay = (lambda view: throw(view)), (lambda view: lay(view))


def first_view(thrown=()):
    """The view of a player who was dealt A to 6 of clubs, after some discards."""
    env = crib_env.raw_env()
    deal = [*range(6), *range(13, 19), 30]
    env.reset(options={"first_dealer": 1, "deals": [deal]})
    for card in thrown:
        env.step(card)
    return env.views("player_0")


@pytest.mark.parametrize(
    ("method", "given", "message"),
    [
        ("throw", "5C", "in game 1, with AC 2C 3C 4C 5C 6C at 0–0: throw gave 5C, give 2 of"),
        ("throw", "5C 7C", "throw gave 5C 7C, give 2 of AC 2C 3C 4C 5C 6C"),
        ("throw", "5C 5C", "throw gave '5C 5C' .5C is given twice"),
        ("throw", (1, 2, 3), "give 2 of"),
        ("throw", 3, "throw gave 3 .*give 2 of"),
        ("throw", None, "throw gave None .*give 2 of"),
        ("lay", "5C", "in game 1, with AC 2C 3C 4C at 0–0: lay gave 5C, give 1 of AC 2C 3C 4C"),
        ("lay", 32, "lay gave 7H, give 1 of AC 2C 3C 4C"),
        ("lay", None, "lay gave None .None"),
        ("lay", "x", "'x' is not a card"),
    ],
)
def test_a_throw_or_a_lay_of_anything_else_is_named(method, given, message):
    views = first_view(thrown=[4, 5, 13, 14] if method == "lay" else ())
    with pytest.raises(ValueError, match=f"^agent 'says' .*{message}"):
        crib_env.OneAtATime(Says(**{method: lambda view: given})).act(views)


def test_the_second_card_of_a_throw_that_somebody_else_began():
    """The player is asked for both discards, which must include the card discarded already."""
    asked = []

    def throw(view):
        asked.append(view.hand)
        return 0, 3

    agent = crib_env.OneAtATime(Says(throw=throw))
    assert agent.act(first_view(thrown=[3])).tolist() == [0]
    assert asked == [(0, 1, 2, 3, 4, 5)]
    with refused("AC 4C", "2C"):
        agent.act(first_view(thrown=[1]))


def test_a_throw_is_remembered_for_its_own_game_and_deal():
    agent = crib_env.OneAtATime(Says(throw=lambda view: view.hand[-2:]))
    batch = GameBatch(streams(8, 30))
    for _ in range(2):
        rows = batch.acting()
        views = batch.views(rows)
        order = np.random.default_rng(0).permutation(len(rows))
        cards = np.empty(len(rows), np.int64)
        cards[order] = agent.act(views[order])
        assert (np.sort(views.hand, axis=1)[:, -2:] == cards[:, None]).any(axis=1).all()
        batch.step(rows, cards)
    assert agent._begun == {}


class NoThrow:
    name = "no throw"

    def lay(self, view):
        return view.legal[0]


class NoName:
    def throw(self, view):
        return view.hand[:2]

    lay = NoThrow.lay


@pytest.mark.parametrize(("player", "lacks"), [(NoThrow, "method throw(view)"), (NoName, "name")])
def test_objects_that_are_not_players_are_refused(player, lacks):
    with refused(player.__name__, lacks):
        crib_env.OneAtATime(player())


class Told(NoName):
    name = "told"
    powers = crib_env.Powers(copyable=False, watches=True)

    def __init__(self):
        self.deals = []

    def observe_deal(self, deal):
        self.deals.append(deal)


def test_a_one_at_a_time_player_receives_results():
    player = Told()
    result = play_match(crib_env.OneAtATime(player), make_agent("greedy"), 4)
    assert not crib_env.OneAtATime(player).powers.copyable
    assert sum(deal.scores[0] == 121 for deal in player.deals) == result.wins
    assert len(player.deals) == round(4 * result.deals_per_game)
    for deal in player.deals:
        assert len(deal.hand) == 4
        assert len(deal.opponent_hand) in (0, 4)
        assert len(deal.crib) in (0, 4)
        assert 0 <= deal.starter < 52
    assert all(len(deal.laid) == 8 for deal in player.deals if deal.crib)


def test_copies_receive_their_own_results():
    agent = crib_env.OneAtATime(Told())
    twin = copy.deepcopy(agent)
    play_match(twin, make_agent("greedy"), 2)
    assert sum(121 in deal.scores for deal in twin.player.deals) == 2
    assert agent.player.deals == []
    assert twin.powers.watches
    assert not crib_env.OneAtATime(Greedy()).powers.watches
    assert set(Decision.__dataclass_fields__) >= {"kept", "said_go", "pile_ranks"}
