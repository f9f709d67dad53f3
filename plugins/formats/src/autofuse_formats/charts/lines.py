"""Lines over the categories in their order; missing values, nan and infinities are gaps."""

from __future__ import annotations

from typing import Iterator, List, Tuple

from autofuse.report.model import Series

from autofuse_formats.charts.bars import value_at
from autofuse_formats.charts.canvas import Drawing
from autofuse_formats.charts.frame import MARGIN, WIDTH, Frame, value_title
from autofuse_formats.charts.scale import Scale, drawable, scale_for
from autofuse_formats.charts.text import number_label, text_width
from autofuse_formats.charts.theme import SERIES_COLOURS

__all__ = ["draw_lines"]

_HEIGHT = 280.0
_SIZE = 11
_NAME_LONGEST = 110.0
_MOST_POINTS = 20_000
_MOST_DOTS = 80


def draw_lines(frame: Frame) -> Drawing:
    """One line per series, with dots while there are few points; marked categories stand on a blue band."""
    chart = frame.chart
    count = min(len(chart.categories), _MOST_POINTS)
    if count < len(chart.categories):
        frame.note(frame.word["the first {} of {} are drawn, the table has all"].format(count, len(chart.categories)))
    if len(chart.series) > 1:
        frame.series_legend()
    if frame.value_title:
        frame.canvas.text(MARGIN, frame.y + 11, frame.value_title, WIDTH - 2 * MARGIN, "af-soft", size=_SIZE)
        frame.y += 20
    top = frame.y
    values = [v for s in chart.series for v in s.values[:count] if v is not None and drawable(v)]
    vertical = scale_for(values, top + _HEIGHT - 8, top + 8, False)
    left = _value_axis(frame, vertical, top)
    across = Scale(0.0, float(max(count - 1, 1)), left + 14, WIDTH - MARGIN - 14)
    _names(frame, across, count, top)
    for place, series in enumerate(chart.series):
        _line(frame, series, place, across, vertical, count)
    frame.note_gaps(chart.series)
    return frame.finish()


def _value_axis(frame: Frame, vertical: Scale, top: float) -> float:
    ticks = vertical.ticks(5)
    labels = [number_label(tick) for tick in ticks]
    left = MARGIN + max((text_width(label, _SIZE) for label in labels), default=0.0) + 8
    for tick, label in zip(ticks, labels):
        y = vertical(tick)
        frame.canvas.line(left, y, WIDTH - MARGIN, y, "af-grid")
        frame.canvas.text(left - 7, y + 4, label, left - 7 - MARGIN + 1, "af-soft", anchor="end", size=_SIZE)
    frame.canvas.line(left, top + _HEIGHT, WIDTH - MARGIN, top + _HEIGHT, "af-axis")
    return left


def _names(frame: Frame, across: Scale, count: int, top: float) -> None:
    chart = frame.chart
    marked = {index for index in chart.marked if index < count}
    step = (across.end - across.start) / max(count - 1, 1)
    for index in sorted(marked):
        band = min(max(step, 6.0), 28.0)
        frame.canvas.rect(across(index) - band / 2, top, band, _HEIGHT, "af-band")
    texts = [f"★ {name}" if index in marked else name for index, name in enumerate(chart.categories[:count])]
    room = min(max((text_width(text[:200], _SIZE) for text in texts), default=0.0) + 2, _NAME_LONGEST)
    every = max(1, int((room + 10) / step + 0.999)) if count > 1 else 1
    for index in _labelled(count, every, marked):
        x, anchor, space = _place(across(index), room)
        cls = "af-mark" if index in marked else "af-soft"
        frame.canvas.text(x, top + _HEIGHT + 16, texts[index], space, cls, anchor=anchor, size=_SIZE)
    frame.y = top + _HEIGHT + 26
    if chart.x_title:
        frame.canvas.text(WIDTH / 2, frame.y + 10, chart.x_title, WIDTH - 2 * MARGIN, "af-soft", anchor="middle")
        frame.y += 22


def _labelled(count: int, every: int, marked: set[int]) -> List[int]:
    """Indices that get a label: the marked ones first, then every n-th that keeps its distance from them."""
    chosen: List[int] = []
    for index in sorted(marked):
        if not chosen or index - chosen[-1] >= every:
            chosen.append(index)
    for index in range(0, count, every):
        if all(abs(index - other) >= every for other in chosen):
            chosen.append(index)
    return sorted(chosen)


def _place(x: float, room: float) -> Tuple[float, str, float]:
    if x - room / 2 < 2:
        return 2.0, "start", min(room, x + room / 2 - 2)
    if x + room / 2 > WIDTH - 2:
        return WIDTH - 2.0, "end", min(room, WIDTH - 2 - (x - room / 2))
    return x, "middle", room


def _line(frame: Frame, series: Series, place: int, across: Scale, vertical: Scale, count: int) -> None:
    colour = place % SERIES_COLOURS
    chart = frame.chart
    for piece in _pieces(series, count):
        points = [(across(index), vertical(value)) for index, value in piece]
        if len(points) > 1:
            frame.canvas.polyline(points, f"af-line af-l{colour}")
        if count <= _MOST_DOTS or len(points) == 1:
            for (index, value), (x, y) in zip(piece, points):
                marked = index in chart.marked
                tip = value_title(chart.categories[index], series.name, value, chart.unit)
                frame.canvas.circle(x, y, 5 if marked else 3, "af-mark" if marked else f"af-s{colour}", tip)


def _pieces(series: Series, count: int) -> Iterator[List[Tuple[int, float]]]:
    piece: List[Tuple[int, float]] = []
    for index in range(count):
        value = value_at(series, index)
        if value is not None and drawable(value):
            piece.append((index, value))
        elif piece:
            yield piece
            piece = []
    if piece:
        yield piece
