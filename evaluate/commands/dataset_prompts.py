"""Writes prompts for language models, with the values of all answers."""

from __future__ import annotations

from crib_env.evaluate.commands.arguments import File
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs
from crib_env.evaluate.language.episode import Unit
from crib_env.evaluate.language.prompts import write_prompts
from crib_env.evaluate.ranges import Amount, WholeNumber
from crib_env.evaluate.skill.suite import text


def prompts(file: File, hands: Amount = 10_000, first: WholeNumber = text.N, unit: Unit = "points") -> None:
    """Writes prompts for language models: hands before the discard, with the values of all fifteen discards.

    Args:
        file: Where to write them, as Parquet.
        hands: Number of hands, of the suite's 100,000.
        first: The first of them. The suite's task `text` asks those below 400: train on others.
        unit: Values are net points of the deal at 0-0, or chances to win at the scores of the hands.
    """
    check_outputs(file)
    write_prompts(file, first, hands, unit)
    console.print(f"{hands:,} prompts with the values of all discards, hands {first:,} to {first + hands - 1:,}")
