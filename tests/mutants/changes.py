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
_BITS = "tests/test_aec_observation.py -k every_bit"

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
        _BITS,
    ),
    Change(
        "the mask of the player who waits holds its hand",
        "crib_env/observation.py",
        'write_bits(legal_cards(g) if seat == g["turn"] else np.int64(0), out, row, 0)',
        "write_bits(legal_cards(g), out, row, 0)",
        "tests/test_aec_observation.py -k mask_shows",
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
        "tests/test_aec_course.py",
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
        "tests/test_aec_reset.py",
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
    ),
    Change(
        "a vector reward forgets the answer",
        "crib_env/vector/kernels.py",
        "        margins[i] = _margin(g, seat)\n",
        "",
        "tests/test_vector_course.py",
    ),
    Change(
        "a vector loss is a win for seat 1",
        "crib_env/vector/kernels.py",
        "np.int64((1 - 2 * seat) * winner_pays(g, reward == _MATCH))",
        "np.int64(winner_pays(g, reward == _MATCH))",
        "tests/test_vector_course.py",
    ),
    Change(
        "the mask of a finished vector game is empty",
        "crib_env/vector/kernels.py",
        '    if g["phase"] == OVER:\n        return _ALL\n',
        "",
        "tests/test_vector_course.py",
    ),
    Change(
        "an illegal vector card is played",
        "crib_env/vector/kernels.py",
        "return 0 <= card < N_ACTIONS and (legal_cards(g) >> card) & 1 != 0",
        "return 0 <= card < N_ACTIONS",
        "tests/test_vector_bad_input.py",
    ),
)
