"""What the choices of a decision come to when they are played out, as a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import tyro
from rich.box import SIMPLE_HEAD
from rich.table import Table

from crib_env.agents import make_agent
from crib_env.cards import format_cards
from crib_env.evaluate.command_line import AgentOption, Score, SomeJson
from crib_env.evaluate.commands.analyse import Cards
from crib_env.evaluate.console import console, table_of
from crib_env.evaluate.files import check_outputs, write_json
from crib_env.evaluate.progress import advancing
from crib_env.evaluate.rollout import Plan, Rollout, position, rollout
from crib_env.players.games import Z

SomeCards = Annotated[tuple[str, ...], tyro.conf.arg(metavar="CARD ...", help_behavior_hint="")]


def roll_out(
    cards: Cards,
    plan: Annotated[Plan, tyro.conf.arg(name="")],
    *,
    dealer: bool = False,
    scores: tuple[Score, Score] = (0, 0),
    discarded: SomeCards = (),
    starter: Annotated[str | None, tyro.conf.arg(metavar="CARD", help_behavior_hint="")] = None,
    laid: SomeCards = (),
    choices: Annotated[tuple[str, ...], tyro.conf.arg(metavar="CARDS ...", help_behavior_hint="")] = (),
    agent: AgentOption = "best",
    json_file: SomeJson = None,
) -> None:
    """Plays each choice of a decision on, in both seats, from the same hidden cards, and compares what comes of it.

    A discard, or with `--discarded` and `--starter` a card of the play. Ctrl-C prints what is known by then.

    Args:
        cards: The six cards dealt, such as 5H 5C JD QS 2H 3D.
        plan: How, and when to stop.
        dealer: Whether this player deals.
        scores: Own score and the opponent's, now.
        discarded: In the play, the two of the six that are discarded.
        starter: In the play, the starter.
        laid: In the play, the cards laid so far by both, oldest first; those not of the six are the opponent's.
        choices: The choices to compare, each in quotes, such as "2H 3D" "JD QS"; by default all.
        agent: The agent in both seats.
        json_file: Also write the result, with standard errors, to this file.
    """
    check_outputs(json_file)
    decision = position(
        " ".join(cards), dealer, scores, discarded=" ".join(discarded), starter=starter, laid=" ".join(laid)
    )
    player, known = make_agent(agent), list[Callable[[], Rollout]]()
    stopped: BaseException | None = None
    try:
        with advancing(f"{player.name} plays on", plan.deals) as on_progress:

            def tell(done: int, so_far: Callable[[], Rollout]) -> None:
                known[:] = [so_far]
                on_progress(done)

            found = rollout(decision, choices or None, player, tell, **vars(plan))
    except KeyboardInterrupt as interrupt:
        if not known:
            raise
        stopped, found = interrupt, known[0]()
    role = f"{'dealer' if dealer else 'pone'} at {scores[0]}–{scores[1]}"
    try:
        if json_file is not None:
            write_json(json_file, found)
    finally:
        console.print(_table(f"{' '.join(cards)} as {role}, {player.name} to the end of the {plan.until}", found))
        console.print(_verdict(found, plan))
    if stopped is not None:
        raise stopped


def _table(title: str, found: Rollout) -> Table:
    columns = ("choice", "wins, %", "behind", "net points", "deals")
    table = table_of(title, columns, no_wrap=True, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for one in found.choices:
        behind = f"{100 * one.behind:.2f} ± {100 * Z * one.behind_error:.2f}" if one is not found.choices[0] else ""
        table.add_row(
            format_cards(one.cards),
            f"{100 * one.chance:.2f} ± {100 * Z * one.chance_error:.2f}",
            behind,
            f"{one.points:+.2f} ± {Z * one.points_error:.2f}",
            f"{one.deals:,}",
        )
    return table


def _verdict(found: Rollout, plan: Plan) -> str:
    best = format_cards(found.choices[0].cards)
    decided = f"{best} is best, with a confidence of {plan.confidence:.0%}" if found.is_decided else "not decided"
    return (
        f"{decided}; with their luck {found.variance_ratio:.1f} times as many deals would be needed; seed {plan.seed}"
    )
