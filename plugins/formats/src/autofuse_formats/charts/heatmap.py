"""Heat map: categories are the columns, each series one row, with its colour scale below.

The colours are the same on dark and light ground; numbers in the cells are black or white, whichever reads better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import List, Optional, Sequence, Tuple

from autofuse_formats.charts.bars import value_at
from autofuse_formats.charts.canvas import Drawing
from autofuse_formats.charts.frame import MARGIN, WIDTH, Frame, value_title
from autofuse_formats.charts.scale import drawable
from autofuse_formats.charts.text import compact_label, number_label, text_width

__all__ = ["draw_heatmap"]

_MOST_CELLS = 20_000
_NAME_LONGEST = 200.0
_COLUMN_NAME_LONGEST = 110.0
_SIZE = 11
_WIDEST_CELL = 90.0
_SCALE_WIDTH = 220.0
_LOGARITHMIC_FROM = 1000.0
"""Ratio of the largest to the smallest value, all positive, from which the colours are logarithmic."""

# viridis and a blue-grey-red pair, at equal distances.
_SEQUENTIAL = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))
_DIVERGING = ((24, 85, 168), (116, 169, 214), (236, 236, 236), (231, 140, 112), (176, 36, 44))
_Colour = Tuple[int, int, int]


@dataclass(frozen=True)
class _Grid:
    """The cells that are drawn, and where; one cell may stand for several values."""

    columns: List[str]
    rows: List[str]
    values: List[List[Optional[float]]]
    marked: Tuple[int, ...]


def draw_heatmap(frame: Frame) -> Drawing:
    """Cells with tooltips, numbers where they fit, a colour scale; missing values are grey."""
    grid = _binned(frame)
    colours = _Colours.over([v for row in grid.values for v in row if v is not None and drawable(v)])
    name_room = min(max(text_width(name[:400], _SIZE) for name in grid.rows) + 1, _NAME_LONGEST)
    left = MARGIN + name_room + 8
    width = min((WIDTH - MARGIN - left) / len(grid.columns), _WIDEST_CELL)
    height = 24.0 if len(grid.rows) <= 40 else max(4.0, 960.0 / len(grid.rows))
    if frame.chart.x_title:
        frame.canvas.text(left, frame.y + 10, frame.chart.x_title, WIDTH - MARGIN - left, "af-soft", size=_SIZE)
        frame.y += 18
    _column_names(frame, grid, left, width)
    _row_names(frame, grid, left, height)
    labelled = height >= 16 and all(
        text_width(compact_label(v), _SIZE) + 6 <= width
        for row in grid.values
        for v in row
        if v is not None and drawable(v)
    )
    for index, (name, row) in enumerate(zip(grid.rows, grid.values)):
        _cells(frame, grid, colours, row, name, (left, frame.y + index * height, width, height), labelled)
    bottom = frame.y + height * len(grid.rows)
    for column in grid.marked:
        _frame_column(frame, left + column * width, frame.y, width, bottom - frame.y)
    frame.y = bottom + 14
    _colour_scale(frame, colours, left)
    frame.note_gaps(frame.chart.series)
    return frame.finish()


def _binned(frame: Frame) -> _Grid:
    """All values, or the means of square blocks of them when there are more than a drawing can hold."""
    chart = frame.chart
    columns, rows = list(chart.categories), [series.name for series in chart.series]
    values = [[value_at(series, index) for index in range(len(columns))] for series in chart.series]
    side = math.ceil(math.sqrt(len(columns) * len(rows) / _MOST_CELLS))
    if side <= 1:
        return _Grid(columns, rows, values, tuple(i for i in chart.marked if i < len(columns)))
    across = max(side, math.ceil(len(columns) * side * side / max(1, _MOST_CELLS) / max(1, len(rows))))
    frame.note(frame.word["each cell is the mean of up to {} × {} values"].format(across, side))
    blocks = [
        [_mean(values, row, column, side, across) for column in range(0, len(columns), across)]
        for row in range(0, len(rows), side)
    ]
    return _Grid(columns[::across], rows[::side], blocks, tuple({i // across for i in chart.marked}))


def _mean(values: List[List[Optional[float]]], row: int, column: int, side: int, across: int) -> Optional[float]:
    block = [v for line in values[row : row + side] for v in line[column : column + across]]
    numbers = [v for v in block if v is not None and drawable(v)]
    return sum(v / len(numbers) for v in numbers) if numbers else None


def _column_names(frame: Frame, grid: _Grid, left: float, width: float) -> None:
    texts = [f"★ {name}" if index in grid.marked else name for index, name in enumerate(grid.columns)]
    longest = max(text_width(text[:200], _SIZE) for text in texts) + 1
    upright = longest <= width - 4
    room = longest if upright else min(longest, _COLUMN_NAME_LONGEST)
    every = 1 if upright else max(1, math.ceil((_SIZE + 3) / width))
    base = frame.y + (_SIZE + 4 if upright else room + 6)
    for index in range(0, len(texts), every):
        cls = "af-mark" if index in grid.marked else "af-soft"
        middle = left + (index + 0.5) * width
        if upright:
            frame.canvas.text(middle, base - 3, texts[index], room, cls, anchor="middle", size=_SIZE)
        else:
            x = min(middle + 4, WIDTH - 3)
            frame.canvas.text(x, base - 3, texts[index], room, cls, size=_SIZE, vertical=True)
    frame.y = base + 2


def _row_names(frame: Frame, grid: _Grid, left: float, height: float) -> None:
    every = max(1, math.ceil((_SIZE + 3) / height))
    for index in range(0, len(grid.rows), every):
        y = frame.y + index * height + height / 2 + 4
        room = left - 8 - MARGIN
        frame.canvas.text(left - 8, y, grid.rows[index], room, "af-ink", anchor="end", size=_SIZE)


def _cells(
    frame: Frame,
    grid: _Grid,
    colours: _Colours,
    row: Sequence[Optional[float]],
    name: str,
    place: Tuple[float, float, float, float],
    labelled: bool,
) -> None:
    left, y, width, height = place
    gap = 1.0 if width > 8 and height > 8 else 0.0
    for index, value in enumerate(row):
        x = left + index * width
        tip = value_title(grid.columns[index], name, value, frame.chart.unit)
        if value is None or not drawable(value):
            frame.canvas.rect(x, y, width - gap, height - gap, "af-gap", title=tip)
            continue
        colour = colours(value)
        frame.canvas.rect(x, y, width - gap, height - gap, fill=_hex(colour), title=tip)
        if labelled:
            ink = "#000000" if _is_light(colour) else "#ffffff"
            middle = x + (width - gap) / 2
            label = compact_label(value)
            frame.canvas.text(
                middle, y + height / 2 + 4, label, width, "", anchor="middle", size=_SIZE, fill=ink, title=tip
            )


def _frame_column(frame: Frame, x: float, y: float, width: float, height: float) -> None:
    corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height), (x, y)]
    frame.canvas.polyline(corners, "af-frame")


def _colour_scale(frame: Frame, colours: _Colours, left: float) -> None:
    pieces = 44
    left = min(left, WIDTH - MARGIN - _SCALE_WIDTH - 240)
    step = _SCALE_WIDTH / pieces
    for index in range(pieces):
        colour = colours.at((index + 0.5) / pieces)
        frame.canvas.rect(left + index * step, frame.y, step + 0.3, 10, fill=_hex(colour))
    room = _SCALE_WIDTH / 3
    ends = ((0.0, "start"), (0.5, "middle"), (1.0, "end")) if colours.low < colours.high else ((0.5, "middle"),)
    for share, anchor in ends:
        label = number_label(colours.value(share))
        x = left + share * _SCALE_WIDTH
        frame.canvas.text(x, frame.y + 24, label, room, "af-soft", anchor=anchor, size=_SIZE)
    kind = frame.word["logarithmic"] if colours.logarithmic else ""
    text = ", ".join(part for part in (frame.value_title, kind) if part)
    x = left + _SCALE_WIDTH + 14
    frame.canvas.rect(x, frame.y, 11, 10, "af-gap")
    used = frame.canvas.text(x + 16, frame.y + 10, frame.word["no value"], 100, "af-soft", size=_SIZE)
    if text:
        x += 16 + used + 14
        frame.canvas.text(x, frame.y + 10, text, WIDTH - MARGIN - x, "af-soft", size=_SIZE)
    frame.y += 36


@dataclass(frozen=True)
class _Colours:
    """Value → colour, over the range of the values."""

    low: float
    high: float
    stops: Tuple[_Colour, ...]
    logarithmic: bool

    @staticmethod
    def over(values: Sequence[float]) -> _Colours:
        low, high = min(values), max(values)
        if low < 0 < high:
            reach = max(-low, high)
            return _Colours(-reach, reach, _DIVERGING, False)
        logarithmic = low > 0 and high / low >= _LOGARITHMIC_FROM
        return _Colours(low, high, _SEQUENTIAL, logarithmic)

    def __call__(self, value: float) -> _Colour:
        if self.high == self.low:
            return self.at(0.5)
        if self.logarithmic:
            return self.at((math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low)))
        # Halved: the difference of two extremes may overflow.
        return self.at((value / 2 - self.low / 2) / (self.high / 2 - self.low / 2))

    def at(self, share: float) -> _Colour:
        """The colour at a share of the range from 0 to 1."""
        place = min(max(share, 0.0), 1.0) * (len(self.stops) - 1)
        index = min(int(place), len(self.stops) - 2)
        before, after = self.stops[index], self.stops[index + 1]
        red, green, blue = (round(a + (b - a) * (place - index)) for a, b in zip(before, after))
        return red, green, blue

    def value(self, share: float) -> float:
        """The value at a share of the range."""
        if self.logarithmic:
            return math.exp(math.log(self.low) + share * (math.log(self.high) - math.log(self.low)))
        return self.low + share * (self.high - self.low)


def _hex(colour: _Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _is_light(colour: _Colour) -> bool:
    red, green, blue = colour
    return 0.299 * red + 0.587 * green + 0.114 * blue > 140
