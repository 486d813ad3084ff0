"""The changes: one wrong line each, and the quick tests that must fail because of it."""

from __future__ import annotations

from typing import NamedTuple


class Change(NamedTuple):
    """A piece of a source file that is replaced."""

    what: str
    """What is wrong with it, in words."""
    file: str
    old: str
    """Stands in the file exactly once."""
    new: str
    tests: str
    """Arguments of pytest."""
    compiled: bool = False
    """Whether kernels are compiled; else they run as plain Python, which saves most of the time."""


_RULES = "tests/test_golden_games.py tests/test_rules.py"
_SCORING = "tests/test_scoring.py -k known"
_ENGINE = "crib_env/engine.py"
_SCORE = "crib_env/scoring.py"
_BITS = "tests/test_aec_observation.py -k 'every_bit and 209 and deal'"
_MEANS = "crib_env/exact/discard_means.py"
_TOTALS = "tests/test_exact_discards.py -k plain_enumeration"
_SHOW = "tests/test_deal_chances.py -k 'in_order or pone_counts'"
_CFR = "crib_env/solver/cfr.py"
_DISCOUNTS = "tests/test_play_solver.py -k those_of_the_paper"
_PUBLIC = "crib_env/solver/public_state.py"
_PLAYS = "tests/test_play_solver.py -k points_of_random_plays"
_STATISTICS = "evaluate/statistics.py"

CHANGES = (
    # --- The rules
    Change(
        "the game goes on at 121",
        _ENGINE,
        '    if g["scores"][seat] >= WIN:\n',
        '    if g["scores"][seat] > WIN:\n',
        _RULES,
    ),
    Change("pegs run past 121", _ENGINE, 'pegged = min(points, WIN - g["scores"][seat])', "pegged = points", _RULES),
    Change(
        "points after the end count",
        _ENGINE,
        '    if g["phase"] == OVER:\n        return\n    pegged',
        "    pegged",
        _RULES,
    ),
    Change(
        "his heels are one point",
        _ENGINE,
        'peg(g, np.int64(g["dealer"]), 2, HEELS)',
        'peg(g, np.int64(g["dealer"]), 1, HEELS)',
        _RULES,
    ),
    Change(
        "his heels are pone's", _ENGINE, 'peg(g, np.int64(g["dealer"]), 2, HEELS)', "peg(g, pone(g), 2, HEELS)", _RULES
    ),
    Change("a queen is his heels", _ENGINE, "if starter(g) % 13 == JACK:", "if starter(g) % 13 == JACK + 1:", _RULES),
    Change(
        "the dealer leads",
        _ENGINE,
        '    g["phase"] = PLAY\n    g["turn"] = pone(g)\n',
        '    g["phase"] = PLAY\n    g["turn"] = g["dealer"]\n',
        _RULES,
    ),
    Change(
        "the dealer discards first",
        _ENGINE,
        '    g["n_deals"] += 1\n    g["turn"] = pone(g)\n',
        '    g["n_deals"] += 1\n    g["turn"] = g["dealer"]\n',
        _RULES,
    ),
    Change("the deal does not pass", _ENGINE, '        g["dealer"] = pone(g)\n', "        pass\n", _RULES),
    Change("a fifteen is three", _ENGINE, "peg(g, seat, 2, FIFTEEN)", "peg(g, seat, 3, FIFTEEN)", _RULES),
    Change("fourteen counts as fifteen", _ENGINE, "    if count == 15:\n", "    if count == 14:\n", _RULES),
    Change(
        "thirty-one earns the go too",
        _ENGINE,
        '    if g["count"] != COUNT_LIMIT:\n',
        '    if g["count"] >= 0:\n',
        _RULES,
    ),
    Change(
        "the last card of a count earns two",
        _ENGINE,
        "peg(g, seat, 1, LAST_CARD if all_laid else GO)",
        "peg(g, seat, 2, LAST_CARD if all_laid else GO)",
        _RULES,
    ),
    Change(
        "who laid the last card of a count leads the next",
        _ENGINE,
        '    if g["hand"][other]:  # the opponent leads',
        "    if False:  # the opponent leads",
        _RULES,
    ),
    Change(
        "the turn does not come back after a go",
        _ENGINE,
        'g["turn"] = other if others_turn else seat',
        'g["turn"] = other',
        _RULES,
    ),
    Change(
        "pairs and runs reach back across a reset", _ENGINE, '    g["pile_start"] = g["n_laid"]\n', "    pass\n", _RULES
    ),
    Change(
        "a run after a pair is missed",
        _ENGINE,
        "    elif ranks & ranks >> 1 & ranks >> 2:",
        "    elif before == 0 and ranks & ranks >> 1 & ranks >> 2:",
        _RULES,
    ),
    Change(
        "the dealer's hand is counted first",
        _ENGINE,
        '        cut, dealer = starter(g), np.int64(g["dealer"])\n        peg(g, 1 - dealer, show',
        "        cut, dealer = starter(g), pone(g)\n        peg(g, 1 - dealer, show",
        _RULES,
    ),
    Change(
        "the crib is pone's",
        _ENGINE,
        '        peg(g, dealer, show_points(g["discards"][0] | g["discards"][1], cut, True), CRIB)',
        '        peg(g, 1 - dealer, show_points(g["discards"][0] | g["discards"][1], cut, True), CRIB)',
        _RULES,
    ),
    Change(
        "the crib is scored as a hand",
        _ENGINE,
        'g["discards"][1], cut, True), CRIB)',
        'g["discards"][1], cut, False), CRIB)',
        _RULES,
    ),
    Change("a loser at 90 is not skunked", _ENGINE, "loser <= SKUNK", "loser < SKUNK", _RULES),
    Change("a skunk pays two", _ENGINE, "return sign * (3 if skunk else 2)", "return sign * 2", _RULES),
    Change(
        "the first dealer is always seat 0",
        _ENGINE,
        "coin = below(random_word(g), 2)",
        "coin = below(random_word(g), 1)",
        _RULES,
    ),
    Change(
        "start scores may lie one further apart",
        _ENGINE,
        "while abs(score_0 - score_1) > start_spread:",
        "while abs(score_0 - score_1) > start_spread + 1:",
        _RULES,
    ),
    Change("the count's limit is 32", _SCORE, "COUNT_LIMIT = 31", "COUNT_LIMIT = 32", _RULES),
    # --- Scoring
    Change("court cards count their rank", _SCORE, "return min(rank + 1, 10)", "return min(rank + 1, 11)", _SCORING),
    Change(
        "a fifteen of a hand is one point",
        _SCORE,
        "points = 2 * ((sums >> 60) & 15)",
        "points = (sums >> 60) & 15",
        _SCORING,
    ),
    Change("three of a kind are four points", _SCORE, "4 * popcount(one & two)", "2 * popcount(one & two)", _SCORING),
    Change("four of a kind are ten points", _SCORE, "12 * popcount(four)", "10 * popcount(four)", _SCORING),
    Change("double runs count once", _SCORE, "((1 << popcount(two & run)) + popcount(one & two & run))", "1", _SCORING),
    Change("triple runs count twice", _SCORE, " + popcount(one & two & run))", ")", _SCORING),
    Change(
        "a flush of the hand needs the starter",
        _SCORE,
        "        elif not crib:\n            points += 4\n",
        "",
        _SCORING,
    ),
    Change(
        "a four-card flush counts in the crib",
        _SCORE,
        "        elif not crib:\n            points += 4\n",
        "        else:\n            points += 4\n",
        _SCORING,
    ),
    Change("a five-card flush is four", _SCORE, "            points += 5\n", "            points += 4\n", _SCORING),
    Change(
        "his nobs is of any suit",
        _SCORE,
        "if (hand >> (starter // 13 * 13 + JACK)) & 1:",
        "if hand & (1 << JACK | 1 << JACK + 13 | 1 << JACK + 26 | 1 << JACK + 39):",
        _SCORING,
    ),
    Change(
        "pairs of the play skip a card",
        _SCORE,
        "while end - 1 - same >= start and laid",
        "while end - 1 - same > start and laid",
        "tests/test_scoring.py -k 'known_piles or the_play_against'",
    ),
    Change(
        "runs of the play need four",
        _SCORE,
        "if length >= 3 and high - low == length - 1:",
        "if length >= 4 and high - low == length - 1:",
        "tests/test_scoring.py -k 'known_piles or the_play_against'",
    ),
    Change(
        "a run of the play may hold a rank twice",
        _SCORE,
        "            break  # a rank twice: no longer window can be a run\n",
        "            pass\n",
        "tests/test_scoring.py -k 'known_piles or the_play_against'",
    ),
    Change(
        "thirty-one earns nothing in score_play",
        _SCORE,
        "count in (15, COUNT_LIMIT)",
        "count == 15",
        "tests/test_scoring.py -k 'known_piles or the_play_against'",
    ),
    # --- What a player sees
    Change(
        "the starter is seen before it is cut",
        _ENGINE,
        'return g["kept"][g["dealer"]] != 0 and starter(g) >= 0',
        "return starter(g) >= 0",
        _BITS,
    ),
    Change(
        "both players seem to deal",
        "crib_env/observation.py",
        'out[row, IS_DEALER] = g["dealer"] == seat',
        "out[row, IS_DEALER] = 1",
        _BITS,
    ),
    Change(
        "own discards are not known",
        "crib_env/observation.py",
        "write_bits(own_discards | cut | laid, out, row, KNOWN)",
        "write_bits(cut | laid, out, row, KNOWN)",
        _BITS,
    ),
    Change(
        "the scores change places",
        "crib_env/observation.py",
        'out[row, OWN_SCORE + k] = k < g["scores"][seat]',
        'out[row, OWN_SCORE + k] = k < g["scores"][1 - seat]',
        "tests/test_aec_observation.py -k 'every_bit and board and deal'",
    ),
    Change(
        "the mask of the player who waits holds its hand",
        "crib_env/observation.py",
        'write_bits(legal_cards(g) if seat == g["turn"] else np.int64(0), out, row, 0)',
        "write_bits(legal_cards(g), out, row, 0)",
        "tests/test_aec_observation.py -k 'mask_shows and deal'",
    ),
    Change(
        "an observation is of the other seat",
        "crib_env/aec.py",
        "self._write(self._record, _SEAT[agent], observation, mask)",
        "self._write(self._record, 1 - _SEAT[agent], observation, mask)",
        _BITS,
    ),
    Change(
        "the opponent's cards are counted one too low",
        "crib_env/views.py",
        "            out.opponent_cards[b] += 1\n            rest &= rest - 1\n",
        "            rest &= rest - 1\n            out.opponent_cards[b] += rest != 0\n",
        "tests/test_aec_observation.py -k views",
    ),
    Change(
        "own cards laid seem to be the opponent's",
        "crib_env/views.py",
        'out.laid_by[b, k] = g["laid_by"][k] != seat',
        'out.laid_by[b, k] = g["laid_by"][k] == seat',
        "tests/test_aec_observation.py -k views",
        compiled=True,
    ),
    # --- The environments' edges
    Change(
        "rewards of the steps before are not cleared",
        "crib_env/aec.py",
        "        self._cumulative_rewards[mover] = 0.0\n",
        "",
        "tests/test_aec_course.py -k last_returns",
    ),
    Change(
        "the reward is not zero-sum",
        "crib_env/aec.py",
        'self._cumulative_rewards["player_1"] -= reward_of_0',
        'self._cumulative_rewards["player_1"] += reward_of_0',
        "tests/test_aec_course.py -k last_returns",
    ),
    Change(
        "an illegal card costs nothing",
        "crib_env/aec.py",
        "self._pay(agent, self.options.penalty * (1 - 2 * seat))",
        "self._pay(agent, 0.0)",
        "tests/test_aec_bad_input.py -k env_ends",
    ),
    Change(
        "the other player is said to have erred",
        "crib_env/aec.py",
        "self._pay(agent, self.options.penalty * (1 - 2 * seat))",
        "self._pay(agent, self.options.penalty)",
        "tests/test_aec_bad_input.py -k offender",
    ),
    Change(
        "a seed is ignored",
        "crib_env/aec.py",
        '        if seed is not None:\n            self.games["episode_stream"] = streams(seed, 1)\n',
        "",
        "tests/test_aec_reset.py -k without_a_seed",
    ),
    Change(
        "given deals last for the next episode",
        "crib_env/aec.py",
        "        self._deals_to_come = list(start.deals)\n",
        '        self._deals_to_come = list(start.deals) or getattr(self, "_deals_to_come", [])\n',
        "tests/test_aec_reset.py -k given",
    ),
    Change(
        "the mask of a finished game is empty",
        "crib_env/single_agent.py",
        "            mask[:] = 1\n",
        "            mask[:] = 0\n",
        "tests/test_single_agent.py -k infos",
    ),
    Change(
        "the seat does not alternate",
        "crib_env/single_agent.py",
        "self._seat = 0 if seed is not None else 1 - self._seat",
        "self._seat = 0",
        "tests/test_vector_course.py tests/test_single_agent.py",
        compiled=True,
    ),
    Change(
        "a vector reward forgets the answer",
        "crib_env/vector/kernels.py",
        "        margins[i] = _margin(g, seat)\n",
        "",
        "tests/test_vector_course.py",
        compiled=True,
    ),
    Change(
        "a vector loss is a win for seat 1",
        "crib_env/vector/kernels.py",
        "np.int64((1 - 2 * seat) * winner_pays(g, reward == _MATCH))",
        "np.int64(winner_pays(g, reward == _MATCH))",
        "tests/test_vector_course.py",
        compiled=True,
    ),
    Change(
        "the mask of a finished vector game is empty",
        "crib_env/vector/kernels.py",
        '    if g["phase"] == OVER:\n        return _ALL\n',
        "",
        "tests/test_vector_course.py",
        compiled=True,
    ),
    Change(
        "an illegal vector card is played",
        "crib_env/vector/kernels.py",
        "return 0 <= card < N_ACTIONS and (legal_cards(g) >> card) & 1 != 0",
        "return 0 <= card < N_ACTIONS",
        "tests/test_vector_bad_input.py",
        compiled=True,
    ),
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
