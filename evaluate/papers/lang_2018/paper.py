"""Lang (2018), "Policy Improvement in Cribbage".

The thesis gives numbers in its Tables 2, 3 and 4 and in its text; its figures are pictures of weights and of point
spreads. Rounds 1 and 2 are trained with s = 10 and s = 2, about which the text says only that one is a fifth of the
other, and that the experiments of section 4.2 begin with s = 2.
"""

from __future__ import annotations

from crib_env.batch import SOURCES
from crib_env.engine import DEALER, PONE
from crib_env.evaluate.matches.single_deals import play_deals
from crib_env.evaluate.papers.claims import (
    Claim,
    Effort,
    Measured,
    Paper,
    above,
    below,
    between,
    mean_of,
    number,
    shown,
)
from crib_env.evaluate.papers.lang_2018.counts import COUNTS
from crib_env.evaluate.papers.lang_2018.strategy_weights import (
    LOSERS,
    RANDOM_WEIGHTS,
    ROUND_1,
    SECONDS_A_GAME,
    STATIC,
    experiment,
    largest_of_short_matches,
    largest_spread,
    preferred,
    useful_over_irrelevant,
    usual_spread,
    wins_against_snapshot,
)
from crib_env.evaluate.papers.lang_2018.tables import TABLE_4_CLAIMS, TABLES_2_AND_3
from crib_env.evaluate.papers.measures import RUN, player, win_rate


def _dealers_advantage(effort: Effort) -> Measured:
    careful = player("careful", effort)
    tally = play_deals(careful, careful, effort.n, effort.seed, on_progress=effort.on_progress)
    by_role = tally[::2].sum(axis=1)  # both games of a pair are one
    net = by_role[:, DEALER] - by_role[:, PONE]
    in_the_show = net[:, SOURCES.index("hand")] + net[:, SOURCES.index("crib")]
    return mean_of(in_the_show, f"{effort.n:,} deals", f"{net.sum(axis=1).mean():.2f} with heels and the play")


def _cap(cap: str) -> Claim:
    better = cap == "0.80"
    return Claim(
        f"figure-21-{cap}",
        "4.2, Regularization, Figure 21",
        f"with weights held below {cap} the trained agent is {'better' if better else 'consistently worse'} than random"
        " weights",
        above("better", 0.5) if better else below("worse", 0.5),
        "a match of its final weights against those it started with",
        wins_against_snapshot(0),
        "{:.1%}",
        (0, 10_000),
        SECONDS_A_GAME,
        (experiment(f"cap-{cap}", "--cap", cap),),
        why="The thesis reads this from the ends of one curve, and doubts it.",
    )


def _figure_3(key: str, says: str, strategy: str, low: int, high: int) -> Claim:
    return Claim(
        f"figure-3-{key}",
        "4.1, Figure 3",
        says,
        above("preferred", 0.0),
        _OVER_THE_BOARD,
        preferred(strategy, low, high),
        "{:+.1%}",
        trainings=(ROUND_1,),
        why=_ADVOCATES,
    )


def _blank(key: str, place: str, says: str, *flags: str) -> Claim:
    return Claim(
        key,
        f"4.2, {place}",
        says,
        shown("blank" if place != "Neighboring Weights" else "pictures of weights"),
        f"a match of the trained weights against `{RANDOM_WEIGHTS}`",
        win_rate(RUN, RANDOM_WEIGHTS),
        "{:.1%}",
        (0, 10_000),
        SECONDS_A_GAME,
        (experiment(key, *flags),),
    )


_ADVOCATES = (
    "A player who leads wins most games, whatever it discards. So weight goes to the strategies that advocate the most "
    "discards. Which strategies these are depends on the number of advocates of a discard, which the thesis does not "
    "give (here three, and all tied with the third), and on its pegging records of 100,000 hands."
)
_OVER_THE_BOARD = "the strategy with the highest weight at each pair of scores, as dealer"

PAPER = Paper(
    "lang-2018",
    "Lang (2018): policy improvement in cribbage",
    (
        Claim(
            "martin-dealer",
            "2.2, after Martin (2000)",
            "gain of the first dealer from its crib",
            between("about 5 points (read as 4.5 to 5.5)", 4.5, 5.5),
            "hands and crib in single deals between two `careful` players, because Martin leaves the play out",
            _dealers_advantage,
            samples=(10_000, 200_000),
            each=1e-4,
            why="Martin's players discard differently, and the thesis gives his figure with one digit only.",
        ),
        *COUNTS,
        *TABLES_2_AND_3,
        _figure_3("lead", "hand_max_min is preferred by a dealer who leads by roughly 2 to 25", "hand_max_min", 2, 25),
        _figure_3(
            "close",
            "hand_max_avg is preferred where the game is extremely close (read as -1 to 1)",
            "hand_max_avg",
            -1,
            1,
        ),
        _figure_3(
            "far",
            "hand_max_avg is preferred by a dealer who is well in the lead (read as 26 and more)",
            "hand_max_avg",
            26,
            120,
        ),
        Claim(
            "useful-strategies",
            "5.2",
            "training removes irrelevant strategies (hand_max_med, pegging_max_med_gained) and emphasises useful ones "
            "(hand_max_avg, hand_max_min)",
            above("it does", 0.0),
            "mean weights of the two kinds over the board, as dealer",
            useful_over_irrelevant,
            "{:+.3f}",
            trainings=(ROUND_1,),
            why=_ADVOCATES,
        ),
        Claim(
            "figure-8",
            "4.1, Round 2, Figures 8 and 11",
            "an agent trained against one of fixed random weights does not play better than random",
            below("no better", 0.5),
            f"a match against `{RANDOM_WEIGHTS}`",
            win_rate(RUN, RANDOM_WEIGHTS),
            "{:.1%}",
            (0, 10_000),
            SECONDS_A_GAME,
            (STATIC,),
        ),
        Claim(
            "figure-15d-random",
            "4.1, Figure 15d",
            "over 10,000 games random weights are consistently better than the trained agent",
            below("better", 0.5),
            "a match of its final weights against those it started with",
            wins_against_snapshot(0),
            "{:.1%}",
            (0, 10_000),
            SECONDS_A_GAME,
            (LOSERS,),
        ),
        Claim(
            "figure-15d-largest",
            "4.1, Figure 15d",
            "largest spread of 10,000 games against a checkpoint, in points a game",
            between("a shade above 1 (read as 1 to 1.1)", 1.0, 1.1),
            "series of the final weights against ten snapshots, the largest",
            largest_spread,
            samples=(0, 100_000),
            each=SECONDS_A_GAME,
            trainings=(LOSERS,),
        ),
        Claim(
            "figure-15d-usual",
            "4.1, Figure 15d",
            "spread that is most often seen, in points a game",
            number("0.2", 0.2, 0.1),
            "series of the final weights against ten snapshots, the median",
            usual_spread,
            samples=(0, 100_000),
            each=SECONDS_A_GAME,
            trainings=(LOSERS,),
        ),
        Claim(
            "short-matches",
            "4.1, Scale of Play, Figure 15a",
            "spread in matches of fewer games, in points a game",
            between("25 (read as 22.5 to 27.5)", 22.5, 27.5),
            "the most one-sided of 200 matches of nine games, twenty against each of ten snapshots; the mean of many "
            "times 200",
            largest_of_short_matches,
            "{:.1f}",
            (0, 36_000),
            SECONDS_A_GAME,
            (LOSERS,),
            why="The thesis gives neither the length of these matches nor which matches the 25 points are the mean of.",
        ),
        *(_cap(cap) for cap in ("0.50", "0.60", "0.70", "0.80")),
        _blank("neighbours", "Neighboring Weights", "half of the weight to the neighbours", "--neighbours", "0.5"),
        _blank("start", "Starting Points", "training from hand_max_avg", "--start", "hand_max_avg"),
        _blank("forgiveness", "Forgiving Punishments", "losses count a quarter", "--forgiveness", "0.25"),
        _blank("learning-rate", "Learning Rate Adjustment", "a fifth of the learning rate", "--scaling", "0.4"),
        _blank("decay", "Rate of Decay", "a decay of 50 %", "--credit-decay", "0.5"),
        *TABLE_4_CLAIMS,
    ),
    (
        (
            "Figures 2 to 4, 9 to 14 and 16 to 20",
            "pictures of weights; runs of the learner draw theirs, `strategies.png`",
        ),
        (
            "Figures 5 to 7 and 15a to 15c",
            "point spreads as pictures; `reproduce lang-tournament RUN` prints those of a run",
        ),
        (
            "4.1, 32 agents and their brackets",
            "one pair is trained here; `train strategy-weights --rounds 5` plays all brackets",
        ),
        ("4.1, text on Table 2", "it calls game 3 a spectacular loss of the trained agent, which won it 121 to 75"),
        ("2.2, Kendall and Shaw (2002)", "quoted, and their opponent is a commercial program"),
    ),
)
