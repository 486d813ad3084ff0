"""Players receive the results of deals and games: in time, with the cards that were shown, and with nothing else."""

from collections import defaultdict

import crib_env
from crib_env.aec import PLAYERS
from crib_env.agents.baselines import GreedyAgent, RandomAgent
from crib_env.evaluate.matches.league import League
from crib_env.evaluate.matches.match import play_games, play_match
from crib_env.evaluate.matches.mirrored import Games, Shard, play_shard


class Listener(GreedyAgent):
    """Records the results that it receives, by game, and when."""

    name = "listener"
    powers = crib_env.Powers(suits="ties", watches=True)
    last = None

    def __init__(self):
        self.deals, self.heard = defaultdict(list), defaultdict(list)
        Listener.last = self

    def act(self, views):
        for game, decision in zip(views.game_ids.tolist(), views.decisions.tolist()):
            self.heard[game].append(decision)
        return super().act(views)

    def observe_deal(self, deal):
        self.deals[deal.game_id].append(deal)
        self.heard[deal.game_id].append("deal")

    def won(self, game):
        return self.deals[game][-1].scores[0] == 121


def told_by_the_table(record, seat):
    """The results that a seat should receive of a recorded game, from the events that the environment shows."""
    env, (me, other) = record.begin(), (PLAYERS[seat], PLAYERS[1 - seat])
    expected = []
    for deal, cards in zip(map(crib_env.parse_cards, record.deals), map(crib_env.parse_cards, record.cards)):
        dealer, discarded, laid = env.dealer, {0: [], 1: []}, []
        for card in cards:
            who = PLAYERS.index(env.agent_selection)
            if len(discarded[0] + discarded[1]) < 4:
                discarded[who].append(card)
            else:
                laid.append((card, who))
            env.step(card)
        shown = {event.kind for event in env.infos[me]["events"]} | {event.kind for event in env.infos[other]["events"]}
        kept = {s: sorted(set(deal[6 * s : 6 * s + 6]) - set(discarded[s])) for s in (0, 1)}
        others_show = "pone's hand" if dealer == seat else "dealer's hand"
        expected.append(
            crib_env.DealResult(
                hand=tuple(kept[seat]),
                discards=tuple(sorted(discarded[seat])),
                opponent_hand=tuple(kept[1 - seat]) if others_show in shown else (),
                crib=tuple(sorted(discarded[0] + discarded[1])) if "crib" in shown else (),
                starter=deal[12],
                laid=tuple(card for card, _ in laid),
                laid_by=tuple(int(who != seat) for _, who in laid),
                is_dealer=dealer == seat,
                scores=(env.scores[seat], env.scores[1 - seat]),
                game_id=record.game,
            )
        )
    return expected


def test_results_hold_what_the_table_has_shown():
    listener, n_unshown = Listener(), 0
    games = Games.merged(list(play_games(listener, RandomAgent(), 120, seed=4, keep_records=True)))
    for record in games.records:
        expected = told_by_the_table(record, seat=record.game % 2)  # the first player sits in seat 0, then in seat 1
        assert listener.deals[record.game] == expected
        n_unshown += not expected[-1].crib
        assert expected[-1].scores == tuple(games.scores[record.game])
        assert listener.won(record.game) == games.won[record.game]
    assert 40 < n_unshown < 120  # a game mostly ends before its last crib is counted


def test_both_players_receive_results_from_their_own_side():
    one, two = Listener(), Listener()
    games = play_shard(one, two, Shard.of(seed=6, first=3, pairs=10))
    assert sorted(one.deals) == list(range(6, 26)) == sorted(two.deals)
    for game in one.deals:
        for mine, yours in zip(one.deals[game], two.deals[game]):
            assert mine.scores == yours.scores[::-1]
            assert mine.is_dealer != yours.is_dealer
            assert mine.starter == yours.starter
            assert mine.crib == yours.crib
            assert mine.opponent_hand in (yours.hand, ())
    assert games.won.sum() == sum(map(one.won, one.deals))


def test_leagues_report_results_as_well(tmp_path):
    league = League(("tests.test_observers:Listener", "random"), 8, 0)
    league.play(league.begin(tmp_path / "league"))
    assert sorted(Listener.last.deals) == list(range(8))


def test_a_deal_is_reported_after_its_last_card_and_before_the_next_discard():
    listener = Listener()
    play_match(listener, RandomAgent(), 40, seed=5)
    for heard in listener.heard.values():
        deal = 0
        for what in heard:
            if what == "deal":
                deal += 1
            else:
                assert what // 12 == deal  # twelve decisions a deal
        assert heard[-1] == "deal"
