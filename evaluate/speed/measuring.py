"""Measuring speeds in interleaved rounds, so that a busy moment of the machine affects all rows alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

from rich.table import Table

from crib_env.evaluate.console import console, table_of

ROUNDS = 5


class Measurement(NamedTuple):
    """A piece of work whose speed is measured.

    Attributes:
        name: its name, with the unit that is counted.
        run: does a fraction of a second of the work; returns the number of units.
    """

    name: str
    run: Callable[[], int]


class Rates(NamedTuple):
    """Units a second, or the ratio of two such figures, one value a round."""

    values: list[float]

    @property
    def median(self) -> float:
        """The middle value."""
        return statistics.median(self.values)

    def range(self, form: str) -> str:
        """The lowest and the highest value, in words."""
        return f"{min(self.values):{form}} to {max(self.values):{form}}"

    def over(self, other: Rates) -> Rates:
        """The ratio to another speed, round by round."""
        return Rates([one / two for one, two in zip(self.values, other.values)])


def measure(
    measurements: Iterable[Measurement], seconds: float, on_progress: Callable[[str], None]
) -> dict[str, Rates]:
    """Units a second by name: each in every round, ``seconds`` at a time, after a first call that compiles."""
    measurements = list(measurements)
    for measurement in measurements:
        on_progress(measurement.name)
        measurement.run()
    rates: dict[str, Rates] = {measurement.name: Rates([]) for measurement in measurements}
    for _ in range(ROUNDS):
        for measurement in measurements:
            on_progress(measurement.name)
            rates[measurement.name].values.append(_per_second(measurement.run, seconds))
    return rates


def _per_second(run: Callable[[], int], seconds: float) -> float:
    done, spent, started = 0, 0.0, time.perf_counter()
    while not done or spent < seconds:
        done += run()
        spent = time.perf_counter() - started
    return done / spent


def say_skipped(what: str, package: str) -> None:
    """Prints that a measurement is skipped, because a package is not installed."""
    console.print(f"skipped: {what} ({package} is not installed)")


def speed_table(rates: dict[str, Rates]) -> Table:
    """Speeds in units a second, a row each."""
    rows = [(name, f"{rate.median:,.1f}", rate.range(",.1f")) for name, rate in rates.items()]
    columns = ("one core, unless stated otherwise", "a second", "range")
    return table_of(f"a second: median of {ROUNDS} rounds (lowest to highest)", columns, rows)


def ratio_table(rates: dict[str, Rates]) -> Table:
    """Ratios, a row each."""
    rows = [(name, f"{ratio.median:.2f}", ratio.range(".2f")) for name, ratio in rates.items()]
    return table_of("times as fast, in the same rounds", ("one / other", "times", "range"), rows)
