"""Search at decision time over another agent: against plain enumeration, and by exact exploitability."""

from __future__ import annotations

import numpy as np
import pytest

from crib_env import GameBatch, Powers, streams
from crib_env.aec import raw_env
from crib_env.agents import make_agent, search
from crib_env.cards import format_card, parse_cards
from crib_env.evaluate.skill.exploitability import exploitability, net_points
from crib_env.solver.play_game import PlayGame
from crib_env.solver.public_state import start_of_play
from tests.helpers.refusals import refused


class Skewed:
    """Lays high cards more often; as pone it likes threes and eights."""

    name = "skewed"
    powers = Powers(mixes="known", suits="unseen")

    def probabilities(self, views):
        liked = np.where(views.is_dealer[:, None], 1, 1 + 9 * np.isin(np.arange(52) % 13, (2, 7)))
        weights = views.action_mask * liked * (1 + np.arange(52) % 13)
        return weights / weights.sum(axis=1, keepdims=True)

    def act(self, views):
        return self.probabilities(views).argmax(axis=1)


BLUEPRINTS = ["random", "greedy", "tests.test_search:Skewed"]


@pytest.fixture(scope="module")
def game():
    return PlayGame(start=start_of_play(2), threads=1)


def batch(n, cards=2, first=0):
    return GameBatch(streams(3, n), episode="pegging", cards=cards, first_id=first)


@pytest.mark.parametrize("ranges", ["blueprint", "search"])
@pytest.mark.parametrize("blueprint", BLUEPRINTS)
def test_search_lowers_exploitability(game, blueprint, ranges):
    before = exploitability(make_agent(blueprint), game).mean
    found = exploitability(make_agent(f"search:policy={blueprint},ranges={ranges}"), game).mean
    assert found < 0.6 * before


def test_more_updates_come_closer_to_an_equilibrium(game):
    gained = [exploitability(make_agent(f"search:policy=random,updates={n}"), game).mean for n in (1, 3, 30)]
    assert gained == sorted(gained, reverse=True)
    assert gained[-1] < 0.03  # random 0.192


@pytest.mark.parametrize("blueprint", BLUEPRINTS)
def test_a_safe_search_raises_no_exploitability(game, blueprint):
    as_it_is_taken = search._Erring(make_agent(blueprint))
    before = exploitability(as_it_is_taken, game)
    found = exploitability(make_agent(f"search:policy={blueprint},safe=yes,updates=100"), game)
    assert found.as_pone < before.as_pone + search._TOLERANCE
    assert found.as_dealer < before.as_dealer + search._TOLERANCE
    assert found.mean < 0.8 * before.mean


def replies(pone, dealer):
    """What the dealer nets after laying either card on pone's first one; the rest follows."""
    values = []
    for reply in dealer:
        env = raw_env(episode="pegging", cards=2)
        env.reset(options={"first_dealer": 1, "deals": [[*pone, *dealer]]})
        env.step(pone[0])
        while not all(env.terminations.values()):
            mask = env.observe(env.agent_selection)["action_mask"]
            env.step(reply if mask[reply] else mask.argmax())
        values.append(env.scores[1] - env.scores[0])
    return values


@pytest.mark.parametrize("held", ["3D 8D", "5H KD", "2S 2D"])
def test_one_update_weighs_what_bayes_and_enumeration_say(held):
    """The dealer replies to a three: by the blueprint's chance of leading it from each hand that pone may hold."""
    dealer, lead = parse_cards(held), 2
    own = make_agent("search:policy=tests.test_search:Skewed,updates=1,temperature=0.5,step_size=2")
    likely, values = [], []
    for other in set(range(52)) - {*dealer, lead}:
        env = raw_env(episode="pegging", cards=2)
        env.reset(options={"first_dealer": 1, "deals": [[lead, other, *dealer]]})
        chances = search._Erring(Skewed()).probabilities(env.views("player_0"))[0]
        likely.append(chances[lead])
        values.append(replies([lead, other], dealer))
    expected = np.array(likely) @ np.array(values) / np.sum(likely)
    env.step(lead)
    blueprint = search._Erring(Skewed()).probabilities(env.views("player_1"))[0][dealer]
    weights = blueprint * np.exp(expected / (0.5 + 1 / 2))
    found = own.probabilities(env.views("player_1"))[0][dealer]
    if dealer[0] % 13 == dealer[1] % 13:
        assert found.sum() == pytest.approx(1)
    else:
        assert found == pytest.approx(weights / weights.sum(), abs=1e-5), [format_card(card) for card in dealer]


@pytest.mark.parametrize("setting", ["ranges=blueprint", "ranges=search", "safe=yes"])
def test_the_same_position_has_the_same_chances(setting):
    """Whatever was searched before, and beside it."""
    one, other = (make_agent(f"search:policy=greedy,{setting},updates=3") for _ in range(2))
    games = batch(60)
    for row, card in zip(range(60), one.act(games.views(np.arange(60)))):
        if row % 3:
            games.step(np.array([row]), np.array([card]))
    views = games.views(np.arange(60))
    found = one.probabilities(views)
    assert found.sum(axis=1) == pytest.approx(1)
    assert not found[views.action_mask == 0].any()
    for row in range(59, -1, -1):
        assert (other.probabilities(views[np.array([row])])[0] == found[row]).all()


def test_little_time_still_makes_one_update(game):
    hasty, one = (make_agent(f"search:policy=random,{text}") for text in ("ms=0.000001", "updates=1"))
    views = batch(50).views(np.arange(50))
    assert (hasty.probabilities(views) == one.probabilities(views)).all()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ("", "needs its policy"),
        ("policy=nobody", "there is no agent 'nobody'"),
        ("policy=ismcts", "draws its cards by chance"),
        ("policy=greedy,updates=0", "updates='0' is not allowed, give 1 to 100,000,000"),
        ("policy=greedy,ms=-1", "ms='-1' is not allowed, give more than 0"),
        ("policy=greedy,temperature=nan", "temperature='nan' is not allowed"),
        ("policy=greedy,step_size=inf", "step_size='inf' is not allowed"),
        ("policy=greedy,ranges=wide", "give one of blueprint, search"),
        ("policy=greedy,depth=3", "no setting 'depth'"),
    ],
)
def test_bad_settings_are_refused(settings, says):
    with refused(says):
        make_agent(f"search:{settings}")


@pytest.mark.parametrize("episode", ["game", "play", "pegging"])
def test_other_games_are_refused(episode):
    with refused("search", "pegging games with two and three cards each"):
        make_agent("search:policy=greedy").act(GameBatch(streams(0, 2), episode=episode).views(np.arange(2)))


def test_net_points_of_two_players(game):
    greedy, player = make_agent("greedy"), make_agent("random")
    assert net_points(greedy, greedy, game) == pytest.approx(0, abs=1e-6)
    assert net_points(greedy, player, game) == pytest.approx(-net_points(player, greedy, game), abs=1e-6)
    assert net_points(greedy, player, game) > 0.1


@pytest.mark.slow
def test_search_more_than_halves_exploitability_with_three_cards():
    game = PlayGame(start=start_of_play(3), threads=1)
    before = exploitability(make_agent("careful"), game).mean
    assert exploitability(make_agent("search:policy=careful,ranges=search"), game).mean < before / 2
