"""Wrong lines in exact values, the solver, statistics, luck, the suite and learners, and the tests that must fail."""

from __future__ import annotations

from tests.mutants.change import Change

_MEANS = "crib_env/exact/discard_means.py"
_TOTALS = "tests/test_exact_discards.py -k plain_enumeration"
_SHOW = "tests/test_deal_chances.py -k 'in_order or pone_counts'"
_CFR = "crib_env/solver/cfr.py"
_DISCOUNTS = "tests/test_play_solver.py -k those_of_the_paper"
_PUBLIC = "crib_env/solver/public_state.py"
_PLAYS = "tests/test_play_solver.py -k points_of_random_plays"
_STATISTICS = "evaluate/statistics.py"

CHANGES_OF_MEASURES = (
    # --- Exact values
    Change(
        "a flush of four counts in the crib's mean, and in no hand's",
        _MEANS,
        "            if not crib:\n",
        "            if crib:\n",
        _TOTALS,
        compiled=True,
    ),
    Change(
        "one card of three is the starter",
        _MEANS,
        "total = 3 * rank_sum",
        "total = 2 * rank_sum",
        _TOTALS,
        compiled=True,
    ),
    Change(
        "the opponent's jack is its own starter",
        _MEANS,
        "(unseen_suit - 1) * 44",
        "unseen_suit * 44",
        _TOTALS,
        compiled=True,
    ),
    Change(
        "of equal pairs the last is discarded",
        _MEANS,
        "total > best_total",
        "total >= best_total",
        "tests/test_exact_discards.py -k equal_pairs",
    ),
    Change(
        "pone counts the crib as its own",
        _MEANS,
        "1 if is_dealer else 0",
        "1",
        "tests/test_exact_discards.py -k 'best_mean or exact_means_say'",
        compiled=True,
    ),
    Change(
        "the dealer counts before pone",
        "crib_env/tables/deal_chances.py",
        "    if pone < WIN:\n        dealer += dealers",
        "    if dealer < WIN:\n        dealer += dealers",
        _SHOW,
    ),
    Change(
        "pone's chance is the dealer's",
        "crib_env/tables/deal_chances.py",
        "1.0 - win_table[other, own] if deals",
        "win_table[other, own] if deals",
        "tests/test_rest_of_deal.py",
    ),
    # --- The solver
    Change(
        "regrets below 0 are not discounted",
        _CFR,
        "np.float32(below / (below + 1))",
        "np.float32(1)",
        _DISCOUNTS,
    ),
    Change("an iteration counts t² times", _CFR, "gamma: float = 3.0", "gamma: float = 2.0", _DISCOUNTS),
    Change(
        "iterations count equally",
        "crib_env/solver/sweeps.py",
        "+= step.average * by_rank",
        "+= by_rank",
        "tests/test_play_solver.py -k counts_with_its_weight",
        compiled=True,
    ),
    Change(
        "regrets do not choose",
        "crib_env/solver/sweeps.py",
        "+= max(weights[slot + left], _ZERO)",
        "+= _ZERO",
        "tests/test_play_solver.py -k 'linear_programming and not population'",
        compiled=True,
    ),
    Change(
        "a go allows lower ranks again",
        _PUBLIC,
        "max(s[FLOOR + actor], n_playable_ranks(s[COUNT]))",
        "n_playable_ranks(s[COUNT])",
        "tests/test_play_solver.py -k never_makes_lower",
    ),
    Change(
        "the solver forgets the last card", _PUBLIC, "_earn(s, actor, 1)  # last card", "pass", _PLAYS, compiled=True
    ),
    Change(
        "in the solver who laid the last card leads",
        _PUBLIC,
        "1 - last if s[CARDS + 1 - last] else last",
        "last if s[CARDS + last] else 1 - last",
        _PLAYS,
        compiled=True,
    ),
    Change(
        "points after the goal count",
        _PUBLIC,
        "    if s[POINTS] < s[GOAL] and s[POINTS + 1] < s[GOAL + 1]:\n",
        "    if True:\n",
        "tests/test_subgame.py -k at_the_goal",
    ),
    # --- Statistics
    Change(
        "the spread of a sample is taken for that of all",
        _STATISTICS,
        "ddof=1",
        "ddof=0",
        "tests/test_match.py -k few_values",
    ),
    Change(
        "Student's quantiles are those of more values",
        _STATISTICS,
        "term / freedom**power",
        "term / (freedom + 1) ** power",
        "tests/test_match.py -k few_values",
    ),
    Change(
        "a loser at 90 gives two match points",
        _STATISTICS,
        "<= SKUNK",
        "< SKUNK",
        "tests/test_match.py -k two_for_a_win",
    ),
    Change(
        "a match looks half as often",
        _STATISTICS,
        "_GROWTH = 1.25",
        "_GROWTH = 1.5",
        "tests/test_sequential_stopping.py -k looks_grow",
    ),
    Change(
        "a few pairs are trusted like many",
        _STATISTICS,
        "games * (Z / student_quantile(n - 1)) ** 2 if n > 1 else games",
        "games",
        "tests/test_luck_fitted.py -k trusted_less",
    ),
    # --- Luck
    Change(
        "a jack is one of 46 cards in the luck of heels",
        "evaluate/skill/luck/usual_deal.py",
        "2 * jacks / UNSEEN",
        "2 * jacks / 46",
        "tests/test_luck.py -k hands_and_heels",
    ),
    Change(
        "his heels are no luck of the starter",
        "evaluate/skill/luck/variates.py",
        "heels = 2 if starter % 13 == JACK else 0",
        "heels = 0",
        "tests/test_luck.py -k heels_that_win",
    ),
    Change(
        "the coin's luck counts twice",
        "evaluate/skill/luck/variates.py",
        "== 0, 0.5, -0.5)",
        "== 0, 0.5, 0.0)",
        "tests/test_luck.py -k coin",
    ),
    Change(
        "a pair has a part in its own slope",
        "evaluate/skill/luck/variates.py",
        ".sum(axis=0) - luck * values -",
        ".sum(axis=0) -",
        "tests/test_luck_fitted.py -k own_slope",
    ),
    Change(
        "luck is subtracted where every game was won",
        "evaluate/skill/luck/variates.py",
        "4 * win_rates * (1 - win_rates)",
        "1",
        "tests/test_luck_fitted.py -k every_game_was_won",
    ),
    # --- The suite
    Change(
        "intervals of the suite are twice as wide",
        "evaluate/skill/suite/task.py",
        "(high - low) / 2",
        "high - low",
        "tests/test_suite.py -k students",
    ),
    Change(
        "one reply that wins is enough to win for certain",
        "evaluate/skill/suite/endgames.py",
        "all(self._wins(reply)",
        "any(self._wins(reply)",
        "tests/test_suite.py -k sure",
    ),
    Change(
        "cards laid lose what the one before loses",
        "evaluate/skill/suite/play.py",
        "data.losses[np.arange(n), ranks]",
        "data.losses[np.arange(n) - 1, ranks]",
        "tests/test_suite.py -k cards_laid",
        compiled=True,
    ),
    # --- What language models learn from
    Change(
        "a choice loses what it lacks to the mean, not to the best",
        "evaluate/language/episode.py",
        "float(values.max() - value)",
        "float(values.mean() - value)",
        "tests/test_language_episode.py -k begin_at_none",
    ),
    Change(
        "whoever gives up plays its best",
        "evaluate/language/episode.py",
        "max if self.seat == seat else min",
        "min",
        "tests/test_language_episode.py -k gives_up",
    ),
    Change(
        "a fourth answer is asked for",
        "evaluate/language/episode.py",
        "self._faults == _ASKS",
        "self._faults > _ASKS",
        "tests/test_language_episode.py -k third_time",
    ),
    # --- What learners learn from
    Change(
        "returns pass a random move",
        "train/td/returns.py",
        "0.0 if explored[i + 1] else td_lambda",
        "td_lambda",
        "tests/test_td.py -k returns_by_hand",
    ),
    Change(
        "traces do not fade",
        "train/td/traces.py",
        "trace.hidden[h, k] *= fade",
        "trace.hidden[h, k] *= 1",
        "tests/test_td.py -k trace_by_hand",
    ),
    Change(
        "the target network chooses its own best card",
        "train/ddqn.py",
        "with_gains(self.online.outputs",
        "with_gains(self.target.outputs",
        "tests/test_ddqn.py -k targets_take",
    ),
    Change(
        "a value after n steps is discounted once",
        "train/experience.py",
        "gamma**n_step, 0.0",
        "gamma, 0.0",
        "tests/test_ddqn.py -k n_step",
    ),
    Change(
        "the last reward is lost",
        "train/experience.py",
        "np.where(ends, final, np.roll(now, -1)) - now",
        "np.where(ends, now, np.roll(now, -1)) - now",
        "tests/test_ddqn.py -k differences_of_standings",
    ),
    Change(
        "a piece begins in another player's decisions",
        "train/sequences.py",
        "    inside &= decisions.chain[at] == decisions.chain[first][:, None]\n",
        "",
        "tests/test_drqn.py -k pieces_by_hand",
    ),
    Change(
        "the reservoir keeps the newest",
        "train/nfsp.py",
        "rng.integers(number + 1)",
        "number % capacity",
        "tests/test_nfsp.py -k reservoir",
    ),
    Change(
        "a deal is not credited with those after it",
        "train/strategy_weights/games.py",
        " + (1 - credit_decay) * credit",
        "",
        "tests/test_strategy_weights.py -k credited",
    ),
)
