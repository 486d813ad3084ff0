"""Episodes in words: what choices lose, what is told, and players of known strength at the suite's positions."""

import re

import numpy as np
import pytest

from crib_env import GameBatch, streams
from crib_env.agents import make_agent
from crib_env.cards import format_cards
from crib_env.engine import DISCARD
from crib_env.evaluate.language.episode import CribbageTools, Episode
from crib_env.evaluate.matches.game_records import Recorder
from crib_env.evaluate.skill.analysis.decisions import analyse
from crib_env.evaluate.skill.analysis.judges import play_judge
from crib_env.evaluate.skill.suite import discards, play, text
from crib_env.evaluate.skill.suite.task import Work
from tests.helpers.model_server import PlayerInWords
from tests.helpers.refusals import refused


def play_out(episode, player):
    told = episode.words()
    while not episode.is_over:
        told = episode.answer(player.cards(told))
    return episode.reward()


@pytest.mark.parametrize("name", ["greedy", "careful"])
def test_rewards_are_the_figures_of_the_same_positions(name):
    n, player = text.N, PlayerInWords(name)
    wanted = text.measure(make_agent(name), Work(1.0, 1, lambda done: None))
    lost = {task: [-play_out(Episode(task, k), player) for k in range(n)] for task in ("discards", "play")}
    assert np.mean(lost["discards"]) == pytest.approx(wanted["points lost a discard in words"].mean, abs=1e-12)
    assert np.mean(lost["play"]) == pytest.approx(wanted["points lost a card laid in words"].mean, abs=1e-12)


def test_tools_lose_what_the_same_cards_lose():
    player, tools = PlayerInWords("greedy"), CribbageTools()
    for task in ("discards", "play"):
        for k in range(20):
            cards = player.cards(tools.reset(task=task, number=k, prompt="is not used")).split()
            (tools.discard if len(cards) == 2 else tools.lay)(*cards)
            assert tools.get_reward() == play_out(Episode(task, k), player)


def played_natively(names, number):
    """A game, its record as :func:`analyse` takes it."""
    batch = GameBatch(streams(number, 1))
    recorder, agents = Recorder(batch), [make_agent(name) for name in names]
    while len(rows := batch.acting()):
        cards = np.asarray(agents[int(batch.games["turn"][0])].act(batch.views(rows)))
        recorder.note(rows, cards)
        batch.step(rows, cards)
    return recorder.records(number, [names])[0]


def test_a_game_in_words_is_the_game_of_the_agents_and_loses_the_same():
    episode = Episode("game", 5)
    play_out(episode, PlayerInWords("greedy"))
    (analysis,) = analyse([played_natively(("greedy", "careful"), 5)], play_judge("expert"))
    wanted = [one for one in analysis.decisions if one.seat == 0]
    assert episode.reward() == pytest.approx(-sum(one.chance_lost for one in wanted), abs=1e-9)
    n_discards = [len(choice.cards) for choice in episode.choices].count(2)
    assert n_discards == sum(one.kind == "discard" for one in wanted)
    assert sum(choice.loss > 0 for choice in episode.choices) > 5


def test_the_losses_of_all_choices_begin_at_none():
    for task in ("discards", "play", "deal", "game"):
        losses = [choice.loss for choice in Episode(task, 7).losses()]
        assert min(losses) == 0
        assert max(losses) > 0


def test_what_cannot_be_played_is_told_and_counted_and_the_third_time_gives_up():
    episode = Episode("deal", 5)
    for _ in range(2):
        told = episode.answer("5H")
        assert told.startswith("That cannot be played: you named 5H: name exactly two cards of")
        assert not episode.choices
    assert "Lay one card." in episode.answer(format_cards(episode.losses()[0].cards))
    for _ in range(2):
        episode.answer("pass")
    assert not episode.is_over
    episode.answer("pass")
    assert (episode.is_over, episode.illegal) == (True, 5)
    assert episode.answer("5H") == episode.words()
    assert re.fullmatch(r"It is over\. The score is \d+–\d+\.", episode.words())


def test_whoever_gives_up_loses_the_most():
    worst = max(choice.loss for choice in Episode("discards", 3).losses())
    one = Episode("discards", 3)
    one.give_up()
    assert one.reward() == -worst
    deal = Episode("deal", 3)
    first = max(choice.loss for choice in deal.losses())
    deal.give_up()
    assert deal.reward() <= -first
    tools = CribbageTools()
    tools.reset("deal", 3)
    assert tools.get_reward() < 0


def test_a_position_tells_what_its_player_sees_and_no_more():
    words = Episode("deal", 5).words()
    same = GameBatch(streams(5, 1), episode="deal")
    assert same.games["phase"][0] == DISCARD
    held = format_cards(sorted(same.games["cards"][0, :6].tolist(), key=lambda card: (card % 13, card)))
    assert f"You hold {held}." in words
    assert not set(format_cards(same.games["cards"][0, 6:].tolist()).split()) & set(words.replace(".", " ").split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("hands", 1), "task='hands' is not allowed: give one of 'discards', 'play', 'deal', 'game'"),
        (("deal", -1), "number=-1 is not allowed"),
        (("discards", discards.N), "number=100000 is not allowed: give 0 to 99,999"),
        (("play", play.N), "number=10000 is not allowed: give 0 to 9,999"),
        (("deal", 1, "nobody"), "there is no agent 'nobody'"),
        (("deal", None), "number=None is not allowed"),
    ],
)
def test_bad_input(arguments, message):
    with refused(message):
        Episode(*arguments)
