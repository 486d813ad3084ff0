"""The engine and the reference side by side, state by state, over random games."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crib_env.engine import DEAL, DISCARD, EPISODES, EVENTS, GAME, OVER, PLAY
from tests.helpers import engine_calls
from tests.helpers.reference import ReferenceGame

PHASES = {"discard": DISCARD, "play": PLAY, "deal": DEAL, "over": OVER}


def deals(rng, n):
    """Thirteen cards for each of n deals. Half come from five ranks only, for long runs and pairs royal."""
    cards = []
    for i in range(n):
        deck = np.arange(52)
        if i % 2:
            deck = deck[np.isin(deck % 13, rng.choice(13, 5, replace=False))]
        cards.append(rng.permutation(deck)[:13])
    return np.array(cards, np.int8).reshape(n, 13)


def mask(cards):
    return sum(1 << card for card in cards)


def expected(reference):
    """What the engine's record should hold."""
    return {
        "scores": reference.scores,
        "events": reference.events,
        "phase": PHASES[reference.phase],
        "dealer": reference.dealer,
        "hand": [mask(hand) for hand in reference.hands],
        "discards": [mask(cards) for cards in reference.discards],
        "laid": reference.laid,
    }


def held(record):
    """The same out of the engine's record."""
    return {
        "scores": record["scores"].tolist(),
        "events": [
            (int(record["event_player"][k]), int(record["event_points"][k]), EVENTS[record["event_kind"][k]])
            for k in range(record["n_events"])
        ],
        "phase": int(record["phase"]),
        "dealer": int(record["dealer"]),
        "hand": record["hand"].tolist(),
        "discards": record["discards"].tolist(),
        "laid": list(zip(record["laid_by"].tolist(), record["laid"].tolist()))[: record["n_laid"]],
    }


def expected_of_the_player_to_act(reference):
    return (
        reference.turn,
        mask(reference.legal()),
        reference.count,
        [card for _, card in reference.laid][len(reference.laid) - len(reference.pile) :],
    )


def held_of_the_player_to_act(record, legal):
    pile = record["laid"][record["pile_start"] : record["n_laid"]]
    return int(record["turn"]), int(legal), int(record["count"]), pile.tolist()


def play_side_by_side(episode, n_games, seed, highest_start):
    """Plays n games to their ends, comparing after every card; the reference's games and all their events."""
    rng = np.random.default_rng(seed)
    games = np.zeros(n_games, GAME)
    first_dealers = rng.integers(2, size=n_games)
    starts = rng.integers(highest_start + 1, size=(n_games, 2))
    engine_calls.begin(games, EPISODES.index(episode), first_dealers, starts[:, 0], starts[:, 1], -1)
    references = [
        ReferenceGame(dealer, start, episode) for dealer, start in zip(first_dealers.tolist(), starts.tolist())
    ]
    events = []

    acting = np.arange(n_games)
    while len(acting):
        awaiting = acting[games["phase"][acting] == DEAL]
        games["cards"][awaiting] = deals(rng, len(awaiting))
        engine_calls.deal(games, awaiting)
        for i in awaiting:
            references[i].deal([card for card in games["cards"][i].tolist() if card >= 0])

        legal = np.zeros(len(acting), np.int64)
        engine_calls.legal(games, acting, legal)
        cards = np.zeros(len(acting), np.int64)
        dice = rng.random(len(acting))
        for b, i in enumerate(acting):
            assert held_of_the_player_to_act(games[i], legal[b]) == expected_of_the_player_to_act(references[i])
            choices = sorted(references[i].legal())
            cards[b] = choices[int(dice[b] * len(choices))]

        engine_calls.act(games, acting, cards)
        for b, i in enumerate(acting):
            references[i].act(int(cards[b]))
            assert held(games[i]) == expected(references[i]), f"game {i} after {cards[b]}"
            events += references[i].events
        acting = acting[games["phase"][acting] != OVER]
    return references, events


FEW = [("game", 100, 0), ("game", 800, 120), ("deal", 800, 60), ("play", 2_000, 0), ("pegging", 2_000, 0)]
MANY = [("game", 10_000, 120), ("deal", 20_000, 120), ("play", 20_000, 120), ("pegging", 20_000, 120)]


@pytest.mark.parametrize(
    ("episode", "n_games", "highest_start"), [*FEW, *(pytest.param(*one, marks=pytest.mark.slow) for one in MANY)]
)
def test_every_state_of_random_games(episode, n_games, highest_start):
    references, events = play_side_by_side(episode, n_games, seed=16, highest_start=highest_start)
    print(f"{len(events):,} events of {n_games:,} episodes")
    kinds = {kind for _, _, kind in events}
    show_and_heels = {"heels", "pone's hand", "dealer's hand", "crib"}
    assert kinds == set(EVENTS) - (show_and_heels if episode in ("play", "pegging") else set())  # everything did happen
    if episode == "game":
        assert all(max(game.scores) == 121 > min(game.scores) for game in references)
        if highest_start:  # games are won on every kind of point there is
            assert {game.events[-1][2] for game in references} == set(EVENTS)


@settings(deadline=None, max_examples=300)
@given(
    episode=st.sampled_from(["deal", "play", "pegging"]),
    dealer=st.integers(0, 1),
    start=st.tuples(st.integers(0, 120), st.integers(0, 120)),
    deck=st.permutations(range(52)),
    choices=st.lists(st.integers(0, 5), min_size=12, max_size=12),
)
def test_every_state_of_a_deal_that_hypothesis_makes_up(episode, dealer, start, deck, choices):
    games, row = np.zeros(1, GAME), np.zeros(1, np.int64)
    engine_calls.begin(games, EPISODES.index(episode), np.array([dealer]), *np.array([start]).T, -1)
    reference = ReferenceGame(dealer, list(start), episode)
    games["cards"][0] = deck[:13]
    engine_calls.deal(games, row)
    reference.deal([card for card in games["cards"][0].tolist() if card >= 0])
    for choice in choices:
        if games["phase"][0] == OVER:
            break
        legal = np.zeros(1, np.int64)
        engine_calls.legal(games, row, legal)
        assert held_of_the_player_to_act(games[0], legal[0]) == expected_of_the_player_to_act(reference)
        cards = sorted(reference.legal())
        card = cards[choice % len(cards)]
        engine_calls.act(games, row, np.array([card]))
        reference.act(card)
        assert held(games[0]) == expected(reference)
    assert games["phase"][0] == OVER
