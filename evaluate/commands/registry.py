"""The commands by name: a measurement is a file in this folder and an entry here.

A name of two words is a command under another one, as ``match endgames``, or in a group, as ``make-table win``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from crib_env.evaluate.ranges import checked


class Command(NamedTuple):
    """A command of ``crib-env``."""

    place: str
    """``module:function`` in this folder; tyro reads the function's parameters from the command line."""
    about: str
    """One line of the help."""
    takes_agents: bool = False
    """Whether the help lists the agents."""

    def load(self) -> Callable[..., None]:
        """The function, which checks its arguments first; imports its module."""
        module, _, function = self.place.partition(":")
        return checked(getattr(import_module(f"crib_env.evaluate.commands.{module}"), function))


COMMANDS = {
    "match": Command(
        "match:match",
        "Plays mirrored games: the same deals twice, with the seats swapped.",
        takes_agents=True,
    ),
    "match endgames": Command(
        "match_endgames:endgames",
        "Plays from forty positions near the end of a game, to measure who plays to the score.",
        takes_agents=True,
    ),
    "match budgets": Command(
        "match_budgets:budgets",
        "Plays an agent with growing budgets against an opponent: strength by budget.",
        takes_agents=True,
    ),
    "league": Command(
        "league:league",
        "Plays a match between every pair of several agents, and rates them.",
        takes_agents=True,
    ),
    "play": Command(
        "play:play",
        "Plays a game between you and an agent, in the browser or in the terminal, with a coach.",
        takes_agents=True,
    ),
    "play mcp": Command(
        "play:mcp",
        "Serves a table to a language model: tools to play against an agent, and to ask the coach.",
        takes_agents=True,
    ),
    "analyse": Command(
        "analyse:analyse_games",
        "Shows what each decision of recorded games lost, and how much was luck.",
    ),
    "analyse replay": Command(
        "analyse_replay:replay",
        "Prints a game recorded by `match --record`, or draws it: a page to step through, a GIF.",
    ),
    "discard": Command(
        "discard:discard",
        "Ranks the fifteen discards of six cards by the probability of winning at a score.",
    ),
    "leads": Command(
        "leads:leads",
        "Shows what the equilibrium leads or answers, how often, and what each card costs.",
    ),
    "suite": Command(
        "suite:suite",
        "Measures agents on fixed tasks with known answers: discards, the play, endgames, matches, time.",
        takes_agents=True,
    ),
    "exploitability": Command(
        "exploitability:exploitability",
        "Measures what an exact best response gains on an agent in the pegging game, or in whole deals.",
        takes_agents=True,
    ),
    "solve play": Command(
        "solve.play:solve_play",
        "Solves the play for its equilibrium, to a stated distance from it; where wanted, among simple players.",
    ),
    "solve deal": Command(
        "solve.deal:solve_deal",
        "Solves whole deals for their equilibrium, discards and play together, with its exact distance from one.",
    ),
    "dataset": Command(
        "dataset:dataset",
        "Writes games between two agents as Parquet, one row a decision, or as a Minari dataset.",
        takes_agents=True,
    ),
    "dataset prompts": Command(
        "dataset:prompts",
        "Writes prompts for language models: hands before the discard, with the values of all fifteen discards.",
    ),
    "runs": Command(
        "runs:runs",
        "Shows finished runs in one table: training time, speed and strength.",
    ),
    "runs curves": Command(
        "runs:curves",
        "Draws learning curves with 95 % intervals: runs that differ only in their seeds are one curve, their mean.",
    ),
    "reproduce": Command(
        "reproduce:reproduce",
        "Recomputes the figures of a paper, and reports which are confirmed, which differ, and why.",
    ),
    "reproduce lang-tournament": Command(
        "reproduce:lang_tournament",
        "Plays a run of Lang's learner against its own snapshots: point spreads over 9, 100, 1,000 and 10,000 games.",
    ),
    "benchmark": Command(
        "benchmark:benchmark",
        "Measures speed and memory in one run: engine, environments, and other environments for comparison.",
    ),
    "benchmark decisions": Command(
        "benchmark:decisions",
        "Measures decision times of players, and compares them with Anderson et al. (2022).",
        takes_agents=True,
    ),
    "benchmark page": Command(
        "benchmark_page:page",
        "Measures how soon the page of `play` is ready, and how fast its server answers.",
        takes_agents=True,
    ),
    "make-table cribs": Command(
        "tables.deals:cribs",
        "Solves for the mean crib by the ranks discarded, when both players discard by hand and crib.",
    ),
    "make-table pegging": Command(
        "tables.deals:pegging",
        "Simulates the points that every four kept cards gain and concede in the play, as pone and as dealer.",
    ),
    "make-table win": Command(
        "tables.win_table:win_table",
        "Computes the probability of winning from every pair of scores, between two copies of an agent.",
        takes_agents=True,
    ),
    "make-table calibration": Command(
        "tables.calibration:calibration",
        "Compares stated chances to win, at scores and after discards, with games that are played out.",
        takes_agents=True,
    ),
    "make-table leads": Command(
        "tables.solutions:leads",
        "Reads leads and answers from a solution of `solve play`.",
    ),
    "make-table blueprint": Command(
        "tables.solutions:blueprint",
        "Makes the blueprint that `equilibrium` plays by, of solutions of the play.",
    ),
    "make-table luck": Command(
        "tables.deals:luck",
        "Computes the values of cards over all deals, by which `match --luck-adjusted` measures luck.",
        takes_agents=True,
    ),
    "make-table discards": Command(
        "tables.deals:discards",
        "Computes the exact statistics of all 20,358,520 deals, and from them the means of the discard game.",
    ),
    "make-table suite": Command(
        "tables.solutions:suite",
        "Makes the positions of `suite`, with what is best in them.",
    ),
}
GROUPS = {
    "make-table": "Makes a table that the library, an agent or a page reads.",
    "solve": "Solves the play, or whole deals, for their equilibrium, to a stated distance from it.",
}
"""What the commands of a group have in common, by the first word of their names."""


def names() -> dict[str, str]:
    """The first words of a command line, each with a line of the help."""
    return {name: command.about for name, command in COMMANDS.items() if " " not in name} | GROUPS


def names_under(first: str) -> dict[str, str]:
    """The second words that may follow a first one, each with a line of the help."""
    both = (name.partition(" ") for name in COMMANDS)
    return {second: COMMANDS[f"{word} {second}"].about for word, _, second in both if word == first and second}
