"""The colours of the table: light, dark, or left to the style sheet of a page.

Colour-blind people too can tell the two sides and the four suits apart (Okabe and Ito's colours, 2008). No information
is given by colour alone.
"""

from __future__ import annotations

from typing import NamedTuple


class Palette(NamedTuple):
    """A colour, as SVG writes it, for each thing on the table."""

    felt: str
    plate: str
    ink: str
    faint: str
    seat_0: str
    seat_1: str
    wood: str
    lane_0: str
    lane_1: str
    hole: str
    peg_edge: str
    card: str
    card_edge: str
    back: str
    back_line: str
    lit: str
    clubs: str
    diamonds: str
    hearts: str
    spades: str

    @property
    def suits(self) -> tuple[str, str, str, str]:
        """The colours of the suits 0 … 3."""
        return self.clubs, self.diamonds, self.hearts, self.spades

    @property
    def seats(self) -> tuple[str, str]:
        """The colours of the two players."""
        return self.seat_0, self.seat_1

    @property
    def lanes(self) -> tuple[str, str]:
        """The colours of their lanes on the board."""
        return self.lane_0, self.lane_1


_BLACK, _RED = "#1b1b1f", "#cc2200"

LIGHT = Palette(
    felt="#cde3d5",
    plate="#f4faf6",
    ink="#1f2a26",
    faint="#52635a",
    seat_0="#0068a8",
    seat_1="#b85c00",
    wood="#bd8d58",
    lane_0="#b3cbdc",
    lane_1="#f3cf94",
    hole="#5b3d20",
    peg_edge="#ffffff",
    card="#ffffff",
    card_edge="#7f9088",
    back="#3d5a80",
    back_line="#8fa9c9",
    lit="#ffcb2e",
    clubs=_BLACK,
    diamonds=_RED,
    hearts=_RED,
    spades=_BLACK,
)
DARK = LIGHT._replace(
    felt="#16302a",
    plate="#22443b",
    ink="#eef4f0",
    faint="#9db0a8",
    seat_0="#56b4e9",
    seat_1="#f0a020",
    wood="#6b4a2c",
    lane_0="#466070",
    lane_1="#8f6b34",
    hole="#20150b",
    peg_edge="#10100e",
    card="#f7f4ec",
    card_edge="#0c1612",
    back="#2f4f7a",
    back_line="#6d8db8",
)

STYLED = Palette(*(f"var(--{name.replace('_', '-')})" for name in Palette._fields))
"""For a page that sets the variables of :func:`style_variables`."""


def four_colours(palette: Palette) -> Palette:
    """The same palette with green clubs and blue diamonds."""
    return palette._replace(clubs="#00805c", diamonds="#002db2")


def style_variables(palette: Palette) -> str:
    """The colours as CSS variables, for pictures drawn with :data:`STYLED`."""
    return "".join(f"--{name.replace('_', '-')}:{colour};" for name, colour in palette._asdict().items())
