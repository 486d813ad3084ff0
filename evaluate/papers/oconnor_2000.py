"""O'Connor (2000), "Temporal Difference Reinforcement Learning Applied to Cribbage".

All figures are in the section "Discussion". The three players of the discard game score less there than by the
rules, by 0.07, 0.19 and 0.19 points; if neither his nobs nor flushes are counted, all three score as printed. So
his networks' 7.3 to 7.6 points are on a scale that ends at 8.07, where ours end at 8.29.
"""

from __future__ import annotations

from crib_env.evaluate.papers.claims import Claim, Effort, Measured, Paper, Training, between, mean, shown
from crib_env.evaluate.papers.discard_game_rules import PLAYERS, Rules, mean_points
from crib_env.evaluate.papers.measures import RUN, net_points_of_pairs, trained
from crib_env.evaluate.papers.trainings import summary_of
from crib_env.exact.deal_classes import N_CLASSES

_PLACE = "Discussion"
_HANDS = 20_000
# Of one hand with one starter, by the rules; the paper gives none.
_DEVIATION = {"random": 3.1, "ideal": 3.7, "cheating": 3.6}
_PRINTED = {"random": 4.7, "ideal": 8.1, "cheating": 8.8}
_DISCARDS = {
    "random": "any two cards",
    "ideal": "the two that leave the best mean over the starters",
    "cheating": "the two that are best with the starter, which it sees",
}
_WITHOUT = Rules(nobs=False, flushes=False)


def _player(name: str, rules: Rules) -> Claim:
    counted = rules == Rules()
    return Claim(
        name if counted else f"{name}-without-nobs-and-flushes",
        _PLACE,
        f"the {name} player of the discard game" + ("" if counted else ", if nobs and flushes are not counted"),
        mean(f"{_PRINTED[name]}", _PRINTED[name], 0.1, _HANDS, _DEVIATION[name]),
        f"enumeration of discards and starters; discards {_DISCARDS[name]}",
        mean_points(name, rules),
        "{:.3f}",
        (20_000, N_CLASSES),
        1.5e-5,
        why="The paper's three figures fit a show that counts neither his nobs nor flushes, see those claims.",
    )


def _discard_network(hidden: int, quick: int) -> Claim:
    def measure(effort: Effort) -> Measured:
        found = summary_of(trained(effort))
        result, hands = found["strength"], found["episodes"]
        low, high = result["interval"]
        return Measured(result["mean"], (low, high), f"{result['hands']:,} deals", f"after {hands:,} hands")

    return Claim(
        f"discard-network-{hidden}",
        f"{_PLACE}, Figure 1",
        f"a network of {hidden} hidden nodes quickly learns the discard game",
        between("7.3 to 7.6", 7.25, 7.65),
        "exact means of what the trained network keeps",
        measure,
        "{:.3f}",
        trainings=(
            Training(
                f"discards-{hidden}",
                "discard-game",
                ("--preset", "paper", "--hidden", f"{hidden}"),
                (quick, 1_000_000),
                4e-5,
            ),
        ),
        why="The paper gives neither the number of hands that its networks played nor their initial weights for this "
        "game. If it did not count his nobs and flushes, its ideal player scores 0.22 points less than ours.",
    )


_FULL_GAME = Training("full-game", "td", ("--preset", "paper"), (100_000, 1_000_000), 2e-4)
_SILENT = (
    "The paper gives neither size nor learning rate of this network, nor how many hands it played in two days; its "
    "curve was still rising."
)

PAPER = Paper(
    "oconnor-2000",
    "O'Connor (2000): temporal difference learning applied to cribbage",
    (
        *(_player(name, Rules()) for name in PLAYERS),
        *(_player(name, _WITHOUT) for name in PLAYERS),
        _discard_network(20, quick=200_000),
        _discard_network(40, quick=0),
        Claim(
            "full-game",
            f"{_PLACE}, Figure 2",
            "after two days of self-play: points more than random in two deals, one dealt by each",
            between("around 4 (read as 3.5 to 4.5)", 3.5, 4.5),
            "`td` against `random` in single deals, each played from both seats",
            net_points_of_pairs(RUN, "random"),
            "{:+.2f}",
            (2_000, 50_000),
            2e-4,
            trainings=(_FULL_GAME,),
            why=_SILENT,
        ),
        Claim(
            "maximiser",
            "Further Work",
            "a program that maximises the score of a hand would show how good this is",
            shown("not done"),
            "`greedy` against `random` in single deals, each played from both seats",
            net_points_of_pairs("greedy", "random"),
            "{:+.2f}",
            (2_000, 50_000),
            1e-4,
        ),
        Claim(
            "full-game-against-maximiser",
            "Further Work",
            "the network against such a program",
            shown("not done"),
            "`td` against `greedy` in single deals, each played from both seats",
            net_points_of_pairs(RUN, "greedy"),
            "{:+.2f}",
            (2_000, 50_000),
            2e-4,
            trainings=(_FULL_GAME,),
        ),
    ),
    (
        ("Figures 1 and 2", "curves without numbers; the runs of the claims above draw theirs, `learning-curve.png`"),
        (
            "Discussion, mean square error of 10⁻⁴ after 5 million iterations on sin(6x)/4 + x/2 + 1/4",
            "a test of his back-propagation code, not of cribbage; its learning rate is not given",
        ),
        ("Discussion, two days of computer time", "another computer's"),
        ("Problem, TD-Gammon against Gammontool and Neurogammon", "another game, quoted"),
    ),
)
