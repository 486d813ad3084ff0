"""The table in pixels, drawn by Pillow: board, hands, crib, starter, the cards laid with their counts, and the last
points; the smaller table of the discard game; and ``render()`` of the environments in every mode.

Pillow and pygame, of the extra ``render``, are imported when they are first needed. Colour-blind people too can tell
the two sides and the four suits apart (Okabe and Ito's colours, 2008). No information is given by colour alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from math import ceil, cos, pi, sin
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.error import DependencyNotInstalled

from crib_env.cards import RANKS, by_rank
from crib_env.distribution import missing
from crib_env.engine import DOUBLE_SKUNK, SKUNK, WIN
from crib_env.options import RENDER_MODES
from crib_env.picture.seen import HIDDEN, Table
from crib_env.scoring import ShowItem, explain_show

if TYPE_CHECKING:
    from PIL.Image import Image


_FELT, _PLATE, _INK, _FAINT, _LIT = "#cde3d5", "#f4faf6", "#1f2a26", "#52635a", "#ffcb2e"
_SEATS, _LANES = ("#0068a8", "#b85c00"), ("#b3cbdc", "#f3cf94")
_WOOD, _HOLE, _PEG_EDGE = "#bd8d58", "#5b3d20", "#ffffff"
_CARD, _CARD_EDGE, _BACK, _BACK_LINE = "#ffffff", "#7f9088", "#3d5a80", "#8fa9c9"
_SUIT_COLOURS = ("#1b1b1f", "#cc2200", "#cc2200", "#1b1b1f")
WIDTH, HEIGHT = 960, 720
_FINE = 4  # how much larger shapes are drawn
_CLEAR = "#0000"
_CAPITAL = 0.72  # height of a capital letter of Pillow's own font, where its size is 1
_CARD_WIDTH, _CARD_HEIGHT = 84, 118
_LEFT, _RIGHT = 20, 940
_ABOVE, _BELOW = 194, 530  # the rows of the two hands
_HAND = 226
_LAID = (334, 360)  # cards of the play, of the seat above and of the seat below
_LAID_STEP = 76
_MIDDLE = 406
_STARTER = (_RIGHT - _CARD_WIDTH - 6, 347)
# Circles (x, y, radius) and a polygon of each suit, on a square of ten by ten.
_STEM = ((4.6, 5), (5.4, 5), (5.7, 8), (7, 9.9), (3, 9.9), (4.3, 8))
_SUITS: tuple[tuple[tuple[tuple[float, float, float], ...], tuple[tuple[float, float], ...]], ...] = (
    (((5, 2.6, 2.4), (2.5, 6, 2.4), (7.5, 6, 2.4)), _STEM),
    ((), ((5, -0.2), (9, 5), (5, 10.2), (1, 5))),
    (((2.75, 3, 2.6), (7.25, 3, 2.6)), ((0.6, 4.4), (2.75, 2.5), (7.25, 2.5), (9.4, 4.4), (5, 9.9))),
    (((2.8, 6.1, 2.4), (7.2, 6.1, 2.4)), ((0.9, 4.7), (5, 0), (9.1, 4.7), (5.4, 6), *_STEM[2:5], (4.6, 6))),
)


# The track runs to the right, back and to the right again: three rows of forty holes.
BOARD = (20, 16, 920, 162)  # the left upper corner of the board, its width and height
ROWS = (47, 97, 147)
LANE = 10  # from the middle of a row to a lane
ENDS_OF_ROWS = (76, 884)  # where the track turns, left and right
START = (62, 42)  # the two starting holes
END = (908, ROWS[2])  # the last hole
_FIRST, _LAST = 96, 864  # holes at the ends of a row
_STEP, _GROUP_GAP = 17.5, 12.2


def hole_at(hole: int, is_below: bool) -> tuple[float, float]:
    """The position (x, y) of a hole: 1 to 120, 121 the last, 0 and -1 the two starting holes."""
    if hole >= WIN:
        return END
    if hole <= 0:
        return START[-hole], ROWS[0] + (LANE if is_below else -LANE)
    row, k = divmod(hole - 1, 40)
    along = k * _STEP + k // 5 * _GROUP_GAP
    # The outer lane stays outside in each turn, so the lanes change sides.
    is_lower = is_below == (row != 1)
    return (_LAST - along if row == 1 else _FIRST + along), ROWS[row] + (LANE if is_lower else -LANE)


def lane(is_below: bool) -> list[tuple[float, float]]:
    """Points (x, y) along the middle of a lane, from its start to its last hole but one."""
    first, second, third = (hole_at(hole, is_below)[1] for hole in (1, 41, 81))
    (left, right), points = ENDS_OF_ROWS, [(START[1] - 4.0, first)]
    for across, above, below, side in ((right, first, second, 1), (left, second, third, -1)):
        middle, radius = (above + below) / 2, (below - above) / 2
        turn = [k * pi / 24 for k in range(25)]
        points += [(across + side * radius * sin(angle), middle - radius * cos(angle)) for angle in turn]
    return [*points, (right, third)]


class Sheet:
    """A picture that is being drawn. Shapes are drawn larger and reduced, so that their edges are smooth, and kept."""

    def __init__(self, width: float, height: float, colour: str, scale: int = 1) -> None:
        try:
            from PIL import Image as images
            from PIL import ImageDraw
        except ImportError as error:
            raise DependencyNotInstalled(missing("a picture", error)) from None
        mode, self._scale = "RGBA" if colour == _CLEAR else "RGB", scale
        self._large: Image = images.new(mode, (scale * ceil(width), scale * ceil(height)), colour)
        self._draw: Any = ImageDraw.Draw(self._large)

    def paste(self, image: Image, x: float = 0, y: float = 0, opacity: float = 1) -> None:
        """An image with its upper left corner at (x, y)."""
        mask = image.getchannel("A") if image.mode == "RGBA" else None
        if mask and opacity < 1:
            mask = mask.point(lambda value: int(opacity * value))
        self._large.paste(image, (round(x), round(y)), mask)

    def box(self, x: float, y: float, width: float, height: float, radius: float, fill: str, edge: str = "") -> None:
        """A rectangle with round corners; an edge is within it."""
        if self._scale == 1:
            self.paste(_shape(width + 1, height + 1, "box", 0, 0, width, height, radius, fill, edge), x, y)
            return
        corners = self._scaled((x, y), (x + width, y + height))
        self._draw.rounded_rectangle(corners, self._scale * radius, fill, edge or None, 2 * self._scale if edge else 0)

    def circle(self, x: float, y: float, radius: float, fill: str, edge: str = "") -> None:
        """A circle; an edge is within it."""
        self.box(x - radius, y - radius, 2 * radius, 2 * radius, radius, fill, edge)

    def suit(self, suit: int, x: float, y: float, size: float, colour: str) -> None:
        """A suit centred at (x, y)."""
        left, top, unit = x - size / 2, y - size / 2, size / 10
        if self._scale == 1:
            self.paste(_shape(size + 1, size + 1, "suit", suit, size / 2, size / 2, size, colour), left, top)
            return
        circles, polygon = _SUITS[suit]
        for across, down, radius in circles:
            self.circle(left + across * unit, top + down * unit, radius * unit, colour)
        corners = ((left + across * unit, top + down * unit) for across, down in polygon)
        self._draw.polygon(self._scaled(*corners), colour)

    def line(self, points: Sequence[tuple[float, float]], width: float, colour: str) -> None:
        """A line through points."""
        self._draw.line(self._scaled(*points), colour, round(self._scale * width), "curve")

    def text(
        self, text: str, x: float, y: float, height: float, colour: str, anchor: str = "mid", width: float = 1e9
    ) -> None:
        """A line of text: at most two fifths smaller, and then shortened with two dots, to fit into the width.

        ``x`` is that of its ``anchor``, ``"left"`` or ``"mid"``; ``y`` and ``height`` are those of its capitals.
        """
        text, height, width = text.replace("\n", " "), self._scale * height, self._scale * width
        small = height * min(1.0, max(width / max(_font(height).getlength(text), 1e-9), 0.6))
        font = _font(small)
        if font.getlength(text) > 1.02 * width:
            while text and font.getlength(f"{text}..") > width:
                text = text[:-1]
            text += ".."
        mask = _words(text, small)
        left = self._scale * x - (mask.width / 2 if anchor == "mid" else 0)
        top = self._scale * y + (height + small) / 2 - mask.height / 2
        self._large.paste(colour, (round(left), round(top)), mask)

    def pill(self, text: str, x: float, y: float, fill: str = _PLATE) -> None:
        """A label, centred at (x, y)."""
        width = round(_font(12).getlength(text)) + 20
        self.box(x - width / 2, y - 12, width, 24, 12, fill, _FAINT)
        self.text(text, x, y - 6, 12, _INK)

    @property
    def image(self) -> Image:
        """The picture in its size."""
        return self._large if self._scale == 1 else self._large.reduce(self._scale)

    def pixels(self) -> np.ndarray:
        """(height, width, 3) uint8: red, green, blue."""
        return np.asarray(self.image)

    def _scaled(self, *points: tuple[float, float]) -> list[float]:
        return [self._scale * value for point in points for value in point]


@cache
def _shape(width: float, height: float, name: str, *args: Any) -> Image:
    """What a method of a sheet draws, with smooth edges."""
    sheet = Sheet(width, height, _CLEAR, _FINE)
    getattr(sheet, name)(*args)
    return sheet.image


@lru_cache(maxsize=512)
def _words(text: str, height: float) -> Image:
    """A line of text as a mask, whose base line is in the middle."""
    sheet, font = Sheet(_font(height).getlength(text) + 1, 4 * height, _CLEAR), _font(height)
    sheet._draw.text((0, 2 * height), text, "#ffff", font, anchor="ls")
    return sheet.image.getchannel("A")


@cache
def _font(height: float) -> Any:
    """Pillow's own font, with capitals of a height."""
    from PIL import ImageFont

    return ImageFont.load_default(height / _CAPITAL)


@cache
def _card(card: int) -> Image:
    sheet = Sheet(_CARD_WIDTH, _CARD_HEIGHT, _CLEAR, _FINE)
    sheet.box(0, 0, _CARD_WIDTH - 1, _CARD_HEIGHT - 1, 9, _CARD, _CARD_EDGE)
    if card == HIDDEN:
        sheet.box(7, 7, _CARD_WIDTH - 15, _CARD_HEIGHT - 15, 5, _BACK)
        for x in range(18, _CARD_WIDTH - 12, 16):
            for y in range(23, _CARD_HEIGHT - 12, 18):
                sheet.suit(1, x, y, 14, _BACK_LINE)
    else:
        suit, colour = card // 13, _SUIT_COLOURS[card // 13]
        sheet.text(rank_text(card), 26, 14, 34, colour, width=40)
        sheet.suit(suit, 26, 67, 22, colour)
        sheet.suit(suit, 57, 90, 41, colour)
    return sheet.image


def rank_text(card: int) -> str:
    """The rank as it stands on the card: A, 2 … 10, J, Q, K."""
    return "10" if card % 13 == 9 else RANKS[card % 13]


def draw_table(table: Table) -> Sheet:
    """The table as a picture of 960 by 720."""
    sheet = Sheet(WIDTH, HEIGHT, _FELT)
    sheet.paste(_board(table.below))
    for seat in (1 - table.below, table.below):
        side, colour = table.sides[seat], _SEATS[seat]
        for hole, radius in ((side.rear_peg, 8), (side.score, 10)):
            sheet.circle(*hole_at(hole, seat == table.below), radius, colour, _PEG_EDGE)
        _draw_row(sheet, table, seat, _BELOW if seat == table.below else _ABOVE)
    if table.counted:
        sheet.text(table.counted.kind.upper(), 113, _MIDDLE - 42, 14, _FAINT, width=170)
        sheet.text(str(table.counted.points), 113, _MIDDLE - 14, 52, _SEATS[table.counted.seat])
        _draw_items(sheet, table.counted.items, _HAND, 335)
    elif table.count is not None:
        for k, card in enumerate(table.laid):
            x, y = _HAND + _LAID_STEP * k, _LAID[card.seat == table.below]
            said = f"{card.count} +{card.points}" if card.points else str(card.count)
            sheet.paste(_card(card.card), x, y, 0.45 if card.is_past else 1)
            colour = _FAINT if card.is_past else _SEATS[card.seat]
            sheet.text(said, x + _CARD_WIDTH / 2 - 4, 487, 17, colour, width=_LAID_STEP)
        sheet.text("COUNT", 113, _MIDDLE - 42, 14, _FAINT)
        sheet.text(str(table.count), 113, _MIDDLE - 14, 52, _INK)
    if table.starter is not None:
        _draw_starter(sheet, table.starter, *_STARTER, table.counted is not None)
    sheet.text(table.caption, WIDTH / 2, 669, 20, _INK, width=_RIGHT - _LEFT)
    return sheet


@cache
def _board(below: int) -> Image:
    """The felt and the board without pegs."""
    sheet = Sheet(WIDTH, BOARD[1] + BOARD[3] + 1, _FELT, _FINE)
    sheet.box(*BOARD, 20, _WOOD)
    for is_below in (False, True):
        sheet.line(lane(is_below), 17, _LANES[below if is_below else 1 - below])
        for hole in range(-1, WIN):
            sheet.circle(*hole_at(hole, is_below), 3.2, _HOLE)
    sheet.circle(*END, 13, _LIT)
    sheet.circle(*END, 5, _HOLE)
    for hole in range(10, WIN, 10):
        sheet.text(str(hole), hole_at(hole, True)[0], ROWS[(hole - 1) // 40] + 2 * LANE + 1, 8, _HOLE)
    for score in (DOUBLE_SKUNK, SKUNK):
        x, y = (hole_at(score, True)[0] + hole_at(score + 1, True)[0]) / 2, ROWS[score // 40]
        sheet.line([(x, y - 18), (x, y + 18)], 3, _HOLE)
    return sheet.image


def _draw_row(sheet: Sheet, table: Table, seat: int, y: float) -> None:
    """A player's name plate and hand, and the dealer's crib."""
    side, counted = table.sides[seat], table.counted
    step = 86 if len(side.hand) > 4 else 92
    if side.acts:
        sheet.box(_LEFT - 3, y - 3, 192, _CARD_HEIGHT + 6, 14, _LIT)
    sheet.box(_LEFT, y, 186, _CARD_HEIGHT, 12, _PLATE)
    sheet.box(_LEFT + 9, y + 13, 10, _CARD_HEIGHT - 26, 5, _SEATS[seat])
    sheet.text(side.name, _LEFT + 34, y + 16, 17, _INK, "left", 142)
    sheet.text(str(side.score), _LEFT + 34, y + 45, 41, _INK, "left", 142)
    if side.is_dealer:
        sheet.pill("DEALER", _LEFT + 137, y + 102)
    if side.says_go:
        sheet.pill("GO", _LEFT + 154, y + 66, _LIT)
    if counted and counted.seat == seat and counted.kind != "crib":
        _light(sheet, _HAND, y, step * (len(side.hand) - 1) + _CARD_WIDTH)
    for k, card in enumerate(side.hand):
        sheet.paste(_card(card), _HAND + step * k, y, 0.5 if side.legal and card not in side.legal else 1)
    if side.is_dealer and table.crib:
        step = 34 if len(side.hand) > 4 else 76
        x = _RIGHT - _CARD_WIDTH - step * (len(table.crib) - 1)
        if counted and counted.kind == "crib":
            _light(sheet, x, y, _RIGHT - x)
        for k, card in enumerate(table.crib):
            sheet.paste(_card(card), x + step * k, y)
        sheet.pill("CRIB", (x + _RIGHT) / 2, y + _CARD_HEIGHT - 6)


def _draw_items(sheet: Sheet, items: Sequence[ShowItem], x: float, y: float) -> None:
    """The combinations of a hand, six to a column."""
    if not items:
        sheet.text("nothing", x, y, 17, _INK, "left")
    for k, item in enumerate(items):
        left, top = x + 330 * (k // 6), y + 29 * (k % 6)
        for card in item.cards:
            colour = _SUIT_COLOURS[card // 13]
            sheet.box(left, top, 39, 26, 5, _CARD)
            sheet.text(rank_text(card), left + 12, top + 6, 14, colour, width=20)
            sheet.suit(card // 13, left + 29, top + 13, 13, colour)
            left += 42
        sheet.text(f"{item.kind} +{item.points}", left + 8, top + 6, 14, _INK, "left", 170)


def _draw_starter(sheet: Sheet, starter: int, x: float, y: float, is_lit: bool) -> None:
    """The deck with the starter or a card back on top."""
    if is_lit:
        _light(sheet, x, y, _CARD_WIDTH)
    for d in (6, 3):
        sheet.box(x + d, y + d, _CARD_WIDTH, _CARD_HEIGHT, 9, _CARD, _CARD_EDGE)
    sheet.paste(_card(starter), x, y)
    sheet.pill("STARTER", x + _CARD_WIDTH / 2, y + _CARD_HEIGHT + 2)


def _light(sheet: Sheet, x: float, y: float, width: float) -> None:
    """A bright frame that makes the cards on it stand out."""
    sheet.box(x - 6, y - 6, width + 12, _CARD_HEIGHT + 12, 14, _LIT)


def draw_discard_game(hand: Sequence[int], discards: Sequence[int], starter: int) -> Sheet:
    """The game as a picture of 960 by 440; ``starter`` is ``HIDDEN`` until it is cut."""
    (hand, discards), left, right, top, step = map(by_rank, (hand, discards)), 40, 926, 260, 90
    sheet = Sheet(WIDTH, 440, _FELT)
    if starter == HIDDEN:
        said = f"discard {len(hand) - 4} of {len(hand)} cards" if len(hand) > 4 else "the episode is over"
    else:
        items = explain_show(hand, starter)
        said = f"{sum(item.points for item in items)} points"
        _draw_items(sheet, items, left, 60)
        _light(sheet, left, top, 3 * step + _CARD_WIDTH)
    sheet.text(said, left, 20, 22, _INK, "left", 600)
    _draw_starter(sheet, starter, right - _CARD_WIDTH, 60, starter != HIDDEN)
    x = right - _CARD_WIDTH - step * (len(discards) - 1)
    for cards, start in ((hand, left), (discards, x)):
        for k, card in enumerate(cards):
            sheet.paste(_card(card), start + step * k, top)
    if discards:
        sheet.pill("DISCARDED", (x + right) / 2, top + _CARD_HEIGHT - 6)
    return sheet


FPS = 2  # decisions a second that a person can follow


class Renderer:
    """Renders an environment in its ``render_mode``: one of ``RENDER_MODES`` or None.

    A window opens with its first picture. Once the user closes it, it stays closed and shows no more pictures.
    """

    def __init__(self, mode: str | None) -> None:
        self._mode, self._was_closed = mode, False
        self._screen: Any = None

    def render(self, text: Callable[[], str], drawing: Callable[[], Sheet]) -> str | np.ndarray | None:
        """``"ansi"``: the text. ``"rgb_array"``: (height, width, 3) uint8. ``"human"``: shows the picture in a window.

        Raises:
            ValueError: the mode is None.
            DependencyNotInstalled: a package of the extra ``render`` is not installed.
            RuntimeError: a window cannot be opened.
        """
        if self._mode is None:
            allowed = " or ".join(map(repr, RENDER_MODES))
            raise ValueError(f"render() needs a render_mode: make the environment with render_mode={allowed}")
        if self._mode == "ansi":
            return text()
        pixels = drawing().pixels()
        if self._mode == "rgb_array":
            return pixels
        self.show(pixels)
        return None

    def show(self, pixels: np.ndarray) -> None:
        """Shows (height, width, 3) uint8 in the window, and waits so that there are at most ``FPS`` a second."""
        if self._was_closed:
            return
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        try:
            import pygame
        except ImportError as error:
            raise DependencyNotInstalled(missing("render_mode='human'", error)) from None
        if self._screen is None:
            try:
                pygame.display.init()
                self._screen = pygame.display.set_mode(pixels.shape[1::-1])
            except pygame.error as error:
                works = "use 'rgb_array' or 'ansi' without a display"
                raise RuntimeError(f"render_mode='human' cannot open a window ({error}): {works}") from None
            pygame.display.set_caption("Cribbage")
        self._screen.blit(pygame.surfarray.make_surface(pixels.swapaxes(0, 1)), (0, 0))
        pygame.display.flip()
        if pygame.event.get(pygame.QUIT):
            self.close()
            self._was_closed = True
        else:
            pygame.time.wait(1000 // FPS)

    def close(self) -> None:
        """Closes the window, if it is open."""
        if self._screen is not None:
            import pygame

            pygame.display.quit()
            self._screen = None
