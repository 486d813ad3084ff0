"""The casebook: published discards beside the solution of whole deals; ``python -m tests.test_casebook`` writes it."""

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from crib_env import analyse_discard
from crib_env.agents import make_agent
from crib_env.agents.equilibrium import load_blueprint, pair_chances
from crib_env.cards import RANKS
from crib_env.engine import DEALER, PONE
from crib_env.evaluate.files import markdown_table, whole_text
from crib_env.evaluate.makers.calibration import Positions, play_discards, stated_chances
from crib_env.evaluate.play.lesson import casebook
from crib_env.evaluate.statistics import half_width, mean_interval
from crib_env.exact.deal_classes import class_of, representatives
from crib_env.exact.discard_statistics import PLACES
from crib_env.solver.deal.kinds import choices_of
from crib_env.tables.shipped import standard_deals

PAGE = Path(__file__).parents[1] / "docs" / "casebook.md"
CASE_COLUMNS = ["cards", "as", "scores", "the solution", "answers, and what they lose"]
EXPERT_COLUMNS = ["expert", "answers", "within 0.05", "within 0.3", "mean loss, points"]
SHOWN = 1.0  # points: positions with an answer that loses more to the solution stand on the page
BEGIN, MIDDLE, END = "<!-- cases -->\n", "<!-- experts -->\n", "<!-- end -->\n"


def name_of(cards):
    """Two cards by rank, as the casebook has them."""
    return " ".join(sorted((RANKS[card % 13] for card in cards), key=RANKS.index))


def losses(case):
    """By ranks discarded: points that they lose to the best, how often the solution discards them, % points lost."""
    six, dealer = np.array([case.six()]), case.dealer
    pairs, chances = pair_chances(load_blueprint(), six, np.array([dealer]))
    deal = choices_of(representatives()[class_of(six)[0]])
    totals = standard_deals().totals(DEALER if dealer else PONE, deal)[0]
    points, shares, wins = defaultdict(lambda: np.inf), defaultdict(float), defaultdict(lambda: np.inf)
    for pair, total, chance in zip(pairs[0].tolist(), totals.tolist(), (chances[0] / chances[0].sum()).tolist()):
        points[name_of(pair)] = min(points[name_of(pair)], totals.max() - total)
        shares[name_of(pair)] += chance
    if case.scores:
        rows = analyse_discard(six[0], dealer=dealer, scores=case.scores)
        for row in rows:
            name = name_of(row["discard"].tolist())
            wins[name] = min(wins[name], 100 * float(rows["win_probability"].max() - row["win_probability"]))
    return points, shares, wins


def rows_of_cases():
    for case in casebook():
        points, shares, wins = losses(case)
        if max(points[name] for name in case.answers) <= SHOWN:
            continue
        own = ", ".join(f"{name} {share:.0%}" for name, share in sorted(shares.items(), key=lambda s: -s[1]) if share)
        answers = "; ".join(
            f"{name} ({', '.join(who.split()[-1] for who in people)}): {points[name]:.2f}"
            + (f", {wins[name]:.1f} %" if case.scores else "")
            for name, people in case.answers.items()
        )
        scores = "–".join(map(str, case.scores)) if case.scores else ""
        yield [
            f"[{case.cards}]({case.source})",
            "dealer" if case.dealer else "pone",
            scores,
            own,
            answers,
        ]


def rows_of_experts():
    given = defaultdict(list)
    for case in casebook():
        points, _, _ = losses(case)
        for name, people in case.answers.items():
            for who in people:
                given[who].append(points[name])
                if case.scores in (None, (0, 0)):
                    given["all, without a score or at 0–0"].append(points[name])
    for who, lost in sorted(given.items(), key=lambda item: -len(item[1])):
        if len(lost) >= 5:
            half = 1.96 * np.std(lost, ddof=1) / len(lost) ** 0.5
            shares = (f"{np.mean(np.array(lost) <= within):.0%}" for within in (0.05, 0.3))
            yield [who, str(len(lost)), *shares, f"{np.mean(lost):.2f} ± {half:.2f}"]


def with_tables(page):
    start, rest = page.split(BEGIN)
    end = rest.split(END)[1]
    cases = markdown_table(CASE_COLUMNS, list(rows_of_cases()))
    experts = markdown_table(EXPERT_COLUMNS, list(rows_of_experts()))
    return f"{start}{BEGIN}{cases}\n{MIDDLE}{experts}\n{END}{end}"


def test_the_page_has_the_figures():
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_tables(page)


def test_the_cases_are_possible():
    for case in casebook():
        ranks = case.cards.split()
        assert len(ranks) == 6
        assert max(ranks.count(rank) for rank in ranks) <= 4
        assert sorted(rank for rank in ranks) == sorted(RANKS[card % 13] for card in case.six())
        for discards in case.answers:
            left = ranks.copy()
            for rank in discards.split():
                left.remove(rank)
    assert len({case.name for case in casebook()}) == len(casebook())


@pytest.mark.slow  # a quarter of an hour: 4,000 deals for each discard and player
def test_answers_lose_what_the_analysis_says_when_they_are_played_out():
    """Where it says a percentage point or more; two players, one after the other, play everything but the discard."""
    players = ("best", "expert")
    rows, lost = [], []
    for case in casebook():
        if not case.scores:
            continue
        position = Positions(np.array([case.six()]), np.array([case.dealer]), np.array([case.scores]))
        chances = stated_chances(position)
        names = [name_of(pair) for pair in np.array(case.six())[PLACES].tolist()]
        best = int(chances.argmax())
        answers = [max((k for k in range(15) if names[k] == name), key=chances.__getitem__) for name in case.answers]
        answers = [k for k in answers if chances[best] - chances[k] >= 0.01]
        if not answers:
            continue
        discards = np.array([best, *answers])
        played = [
            play_discards(make_agent(name), position, discards, 4_000, np.random.default_rng(0)) for name in players
        ]
        for k, answer in enumerate(answers, 1):
            losses = [100 * (of_player[:, 0] - of_player[:, k]) for of_player in played]
            stated = 100 * float(chances[best] - chances[answer])
            lost.append([stated, *(mean.mean() for mean in losses)])
            told = (f"{of.mean():.1f} ± {half_width(mean_interval(of)):.1f}" for of in losses)
            rows.append([case.name, names[answer], names[best], f"{stated:.1f}", *told])
    print(markdown_table(["position", "answer", "against", "stated", *(f"`{name}` plays" for name in players)], rows))
    stated, *by_player = np.array(lost).T
    for of_player in by_player:
        print(
            f"mean {stated.mean():.2f} and {of_player.mean():.2f}, root of the mean square difference "
            f"{np.sqrt(np.mean((stated - of_player) ** 2)):.2f}, {len(stated)} answers"
        )
        assert np.corrcoef(stated, of_player)[0, 1] > 0.8
        assert abs(stated.mean() - of_player.mean()) < 1.5  # the best of fifteen is stated too high


if __name__ == "__main__":
    text = with_tables(PAGE.read_text(encoding="utf-8"))
    with whole_text(PAGE) as file:
        file.write(text)
