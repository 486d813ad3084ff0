"""Letters, digits and the four suits as the project's own paths, so that a picture needs no font.

A letter is drawn by strokes with round ends on a grid: the top at 0, the foot at 10. All letters are capitals:
lower-case letters become capitals, and a character without a glyph becomes ``?``.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Width and strokes. The commands are M, L, H, V, A, C and Z of SVG paths, with absolute coordinates.
_GLYPHS = {
    "A": (6.4, "M0 10L3.2 0L6.4 10M1.1 6.7H5.3"),
    "B": (5.6, "M0 4.8H3A2.4 2.4 0 0 0 3 0H0V10H3A2.6 2.6 0 0 0 3 4.8"),
    "C": (6, "M6 2.4A3.1 3.1 0 0 0 0 3.1V6.9A3.1 3.1 0 0 0 6 7.6"),
    "D": (6, "M0 0H2.6A3.4 3.4 0 0 1 6 3.4V6.6A3.4 3.4 0 0 1 2.6 10H0Z"),
    "E": (5, "M5 0H0V10H5M0 4.9H4.2"),
    "F": (5, "M5 0H0V10M0 4.9H4.2"),
    "G": (6.2, "M6 2.4A3.1 3.1 0 0 0 0 3.1V6.9A3.1 3.1 0 0 0 6.2 6.9V5.4H3.7"),
    "H": (5.8, "M0 0V10M5.8 0V10M0 4.9H5.8"),
    "I": (0, "M0 0V10"),
    "J": (4.8, "M4.8 0V7.6A2.4 2.4 0 0 1 0 7.9"),
    "K": (5.8, "M0 0V10M5.5 0L0 5.8M2 3.8L5.8 10"),
    "L": (4.6, "M0 0V10H4.6"),
    "M": (7.2, "M0 10V0L3.6 6L7.2 0V10"),
    "N": (5.8, "M0 10V0L5.8 10V0"),
    "O": (6.2, "M3.1 0A3.1 3.1 0 0 0 0 3.1V6.9A3.1 3.1 0 0 0 6.2 6.9V3.1A3.1 3.1 0 0 0 3.1 0Z"),
    "P": (5.8, "M0 10V0H3A2.8 2.8 0 0 1 3 5.6H0"),
    "Q": (6.2, "M3.1 0A3.1 3.1 0 0 0 0 3.1V6.9A3.1 3.1 0 0 0 6.2 6.9V3.1A3.1 3.1 0 0 0 3.1 0ZM3.6 7L6.4 10.3"),
    "R": (5.8, "M0 10V0H3A2.8 2.8 0 0 1 3 5.6H0M3 5.6L5.8 10"),
    "S": (5.6, "M5.3 2.3A2.6 2.4 0 0 0 2.8 0A2.5 2.4 0 0 0 2.8 4.8A2.6 2.6 0 0 1 2.8 10A2.8 2.5 0 0 1 0 7.6"),
    "T": (6, "M0 0H6M3 0V10"),
    "U": (5.8, "M0 0V7A2.9 3 0 0 0 5.8 7V0"),
    "V": (6.2, "M0 0L3.1 10L6.2 0"),
    "W": (8.8, "M0 0L2.2 10L4.4 2.5L6.6 10L8.8 0"),
    "X": (5.8, "M0 0L5.8 10M5.8 0L0 10"),
    "Y": (6, "M0 0L3 5.2L6 0M3 5.2V10"),
    "Z": (5.6, "M0 0H5.6L0 10H5.6"),
    "0": (5.6, "M2.8 0A2.8 2.9 0 0 0 0 2.9V7.1A2.8 2.9 0 0 0 5.6 7.1V2.9A2.8 2.9 0 0 0 2.8 0Z"),
    "1": (2.4, "M0 2L2.4 0V10"),
    "2": (5.4, "M0 2.8A2.7 2.8 0 0 1 5.4 2.8C5.4 5.2 0 7.6 0 10H5.4"),
    "3": (5.4, "M.3 2.1A2.4 2.4 0 1 1 2.5 4.7A2.7 2.65 0 1 1 0 7.7"),
    "4": (5.8, "M4.2 10V0L0 7H5.8"),
    "5": (5.6, "M4.9 0H.9L.5 4.5A3 3 0 1 1 0 8.4"),
    "6": (5.6, "M4.4 0C2 1.9 0 4.4 0 7.1A2.8 2.9 0 0 0 5.6 7.1A2.8 2.9 0 0 0 .2 6.1"),
    "7": (5.4, "M0 0H5.4L1.9 10"),
    "8": (5.6, "M2.8 0A2.4 2.4 0 0 0 2.8 4.7A2.4 2.4 0 0 0 2.8 0M2.8 4.7A2.8 2.7 0 0 0 2.8 10A2.8 2.7 0 0 0 2.8 4.7"),
    "9": (5.6, "M1.2 10C3.6 8.1 5.6 5.6 5.6 2.9A2.8 2.9 0 0 0 0 2.9A2.8 2.9 0 0 0 5.4 3.9"),
    " ": (2, ""),
    "-": (3, "M0 5.4H3"),
    "_": (4.6, "M0 10.6H4.6"),
    ".": (0, "M0 10H.01"),
    ",": (0.6, "M.6 9.8L0 11.6"),
    ":": (0, "M0 3.6H.01M0 9.6H.01"),
    "'": (0, "M0 0V2"),
    "/": (4.4, "M0 10.6L4.4 -.6"),
    "=": (4, "M0 3.9H4M0 7H4"),
    "+": (4.4, "M0 5.4H4.4M2.2 3.2V7.6"),
    "(": (1.8, "M1.8 -.6C-.6 2.4 -.6 7.6 1.8 10.6"),
    ")": (1.8, "M0 -.6C2.4 2.4 2.4 7.6 0 10.6"),
    "?": (4.8, "M0 2.4A2.4 2.4 0 1 1 2.4 4.9V7M2.4 9.9H2.41"),
}  # fmt: skip
_GAP = 2.6  # between letters, from the middle of a stroke to the middle of the next

_COMMAND = re.compile(r"([MLHVACZ])([^MLHVACZ]*)")
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)")


def width_of(text: str, height: float) -> float:
    """The width of a text of this height, without the round ends of its strokes."""
    glyphs = [_GLYPHS[letter] for letter in _written(text)]
    return (sum(glyph[0] for glyph in glyphs) + _GAP * max(len(glyphs) - 1, 0)) * height / 10


@lru_cache(maxsize=4096)
def strokes(text: str, x: float, y: float, height: float) -> str:
    """The path of a text whose upper left corner is (x, y). Draw it with strokes that have round ends."""
    scale, parts = height / 10, []
    for letter in _written(text):
        width, path = _GLYPHS[letter]
        parts.append(_placed(path, x, y, scale))
        x += (width + _GAP) * scale
    return "".join(parts)


def fitted(text: str, height: float, width: float) -> tuple[str, float]:
    """A text and its height so that it fits into a width: at most two fifths smaller, then shortened with two dots."""
    needed = width_of(text, height)
    if needed <= width:
        return text, height
    height *= max(width / needed, 0.6)
    if width_of(text, height) > width:
        while text and width_of(text + "..", height) > width:
            text = text[:-1]
        text += ".."
    return text, height


@lru_cache(maxsize=256)
def suit_shape(suit: int, x: float, y: float, size: float) -> str:
    """The path of a suit (0 … 3: clubs, diamonds, hearts, spades) centred at (x, y). Draw it filled."""
    return _placed(_SUITS[suit], x - size / 2, y - size / 2, size / 10)


def _written(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).upper()
    letters = (letter for letter in plain if not unicodedata.combining(letter))
    return "".join(letter if letter in _GLYPHS else "?" for letter in letters)


def _placed(path: str, x: float, y: float, scale: float) -> str:
    """A path moved and scaled."""
    return "".join(letter + _moved(letter, values, x, y, scale) for letter, values in _COMMAND.findall(path))


def _moved(letter: str, values: str, x: float, y: float, scale: float) -> str:
    numbers = [float(number) for number in _NUMBER.findall(values)]
    if letter == "A":
        rx, ry, turn, large, sweep, to_x, to_y = numbers
        arc = [rx * scale, ry * scale, turn, large, sweep, x + to_x * scale, y + to_y * scale]
        return " ".join(map(short, arc))
    if letter == "V":
        return short(y + numbers[0] * scale)
    origins = (x,) if letter == "H" else (x, y)
    return " ".join(short(origins[i % len(origins)] + number * scale) for i, number in enumerate(numbers))


def short(number: float) -> str:
    """A coordinate with two decimals, without zeros at the end."""
    return f"{round(number, 2) + 0.0:g}"


# On a square of ten by ten.
_SUITS = (
    "M7.4 2.6A2.4 2.4 0 0 0 2.6 2.6C2.6 3.2 2.8 3.8 3.2 4.2A2.4 2.4 0 1 0 4.5 7C4.4 8.4 4 9.2 3 9.8H7"
    "C6 9.2 5.6 8.4 5.5 7A2.4 2.4 0 1 0 6.8 4.2C7.2 3.8 7.4 3.2 7.4 2.6Z",
    "M5 -.2C6.2 2 7.4 3.6 9 5C7.4 6.4 6.2 8 5 10.2C3.8 8 2.6 6.4 1 5C2.6 3.6 3.8 2 5 -.2Z",
    "M5 9.9C3 7.6 .2 5.7 .2 3A2.6 2.6 0 0 1 5 1.9A2.6 2.6 0 0 1 9.8 3C9.8 5.7 7 7.6 5 9.9Z",
    "M5 0C6.4 2.4 9.6 4 9.6 6.4A2.3 2.3 0 0 1 5.5 7.5C5.6 8.6 6 9.3 7 9.9H3C4 9.3 4.4 8.6 4.5 7.5A2.3 2.3 0 0 1 .4 6.4"
    "C.4 4 3.6 2.4 5 0Z",
)
