"""Grouped and stacked bars: one row per category, since operator names are long and there may be hundreds."""

from __future__ import annotations

from typing import Iterable, List, Optional

from autofuse.report.model import Series

from autofuse_formats.charts.canvas import Drawing
from autofuse_formats.charts.frame import Frame, gap_label, value_title
from autofuse_formats.charts.rows import Rows, category_names
from autofuse_formats.charts.scale import drawable
from autofuse_formats.charts.text import number_label, text_width
from autofuse_formats.charts.theme import SERIES_COLOURS

__all__ = ["MOST_BARS", "draw_bars", "draw_stacked"]

MOST_BARS = 4000
"""More bars than this in one chart are left to the table; a note says so."""
_BAR = 13.0
_SPACE = 8.0
_LABEL = 11


def draw_bars(frame: Frame) -> Drawing:
    """Grouped bars from zero, each with its value; the marked category is blue when there is one series only."""
    chart = frame.chart
    count = _shown(frame)
    alone = len(chart.series) == 1
    if not alone:
        frame.series_legend()
    values = [value_at(s, index) for index in range(count) for s in chart.series]
    labels = [gap_label(value) for value in values]
    height = _BAR * len(chart.series) + _SPACE
    rows = Rows.lay_out(frame, category_names(frame, count), _numbers(values), height, labels)
    for index in range(count):
        marked = index in chart.marked
        rows.name(index, marked)
        for place, series in enumerate(chart.series):
            cls = _single(bool(chart.marked), marked) if alone else f"af-s{place % SERIES_COLOURS}"
            _bar(rows, index, place, series, cls)
    rows.finish()
    frame.note_gaps(chart.series)
    return frame.finish()


def draw_stacked(frame: Frame) -> Drawing:
    """Stacked bars: positive parts to the right of zero, negative ones to the left, the sum beside them."""
    chart = frame.chart
    count = _shown(frame)
    frame.series_legend()
    stacks = [_numbers(value_at(s, index) for s in chart.series) for index in range(count)]
    ends = [sum(v for v in stack if v > 0) for stack in stacks] + [sum(v for v in stack if v < 0) for stack in stacks]
    labels = [number_label(sum(stack)) if stack else "–" for stack in stacks]
    height = _BAR + _SPACE + 3
    rows = Rows.lay_out(frame, category_names(frame, count), filter(drawable, ends), height, labels)
    for index in range(count):
        rows.name(index, index in chart.marked)
        _stack(rows, index, labels[index])
    rows.finish()
    frame.note_gaps(chart.series)
    return frame.finish()


def value_at(series: Series, index: int) -> Optional[float]:
    """The value of a category; a series that is too short has gaps at its end."""
    return series.values[index] if index < len(series.values) else None


def _shown(frame: Frame) -> int:
    chart = frame.chart
    most = max(1, MOST_BARS // max(1, len(chart.series)))
    if len(chart.categories) > most:
        text = frame.word["the first {} of {} are drawn, the table has all"]
        frame.note(text.format(most, len(chart.categories)))
    return min(len(chart.categories), most)


def _numbers(values: Iterable[Optional[float]]) -> List[float]:
    return [value for value in values if value is not None and drawable(value)]


def _single(any_marked: bool, marked: bool) -> str:
    if marked:
        return "af-mark"
    return "af-other" if any_marked else "af-s0"


def _bar(rows: Rows, index: int, place: int, series: Series, cls: str) -> None:
    value = value_at(series, index)
    y = rows.top + rows.height * index + _SPACE / 2 + _BAR * place
    zero = rows.scale(0.0)
    end = zero
    chart = rows.frame.chart
    tip = value_title(chart.categories[index], series.name, value, chart.unit)
    if value is not None and drawable(value):
        end = rows.scale(value)
        rows.frame.canvas.rect(min(zero, end), y, abs(end - zero), _BAR - 1, cls, title=tip)
    _label(rows, end, y, gap_label(value), to_left=end < zero, title=tip)


def _label(rows: Rows, x: float, y: float, label: str, to_left: bool, title: str) -> None:
    room = text_width(label, _LABEL) + 1
    rows.frame.canvas.text(
        x - 4 if to_left else x + 4,
        y + _BAR - 3,
        label,
        room,
        "af-soft",
        anchor="end" if to_left else "start",
        size=_LABEL,
        title=title,
    )


def _stack(rows: Rows, index: int, label: str) -> None:
    chart = rows.frame.chart
    y = rows.top + rows.height * index + (_SPACE + 3) / 2
    right = left = 0.0
    for place, series in enumerate(chart.series):
        value = value_at(series, index)
        if value is None or not drawable(value):
            continue
        base = right if value >= 0 else left
        start, end = rows.scale(base), rows.scale(base + value)
        tip = value_title(chart.categories[index], series.name, value, chart.unit)
        rows.frame.canvas.rect(min(start, end), y, abs(end - start), _BAR, f"af-s{place % SERIES_COLOURS}", title=tip)
        if value >= 0:
            right += value
        else:
            left += value
    to_left = right == 0 and left < 0
    _label(rows, rows.scale(left if to_left else right), y, label, to_left, f"{chart.categories[index]}: {label}")
