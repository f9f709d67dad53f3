"""Waterfall: signed steps one below the other, each from where the last one ended, and their sum in a last row."""

from __future__ import annotations

from itertools import accumulate
from typing import Optional

from autofuse_formats.charts.bars import value_at
from autofuse_formats.charts.canvas import Drawing
from autofuse_formats.charts.frame import Frame, gap_label, value_title
from autofuse_formats.charts.rows import Rows, category_names
from autofuse_formats.charts.scale import drawable
from autofuse_formats.charts.text import number_label, text_width

__all__ = ["draw_waterfall"]

_MOST_STEPS = 1000
_ROW = 22.0
_BAR = 14.0


def draw_waterfall(frame: Frame) -> Drawing:
    """Steps up are red (more cycles are worse), steps down green; a gap moves nothing."""
    chart = frame.chart
    count = min(len(chart.categories), _MOST_STEPS)
    if count < len(chart.categories):
        frame.note(frame.word["the first {} of {} are drawn, the table has all"].format(count, len(chart.categories)))
    series = chart.series[0]
    steps = [value_at(series, index) for index in range(count)]
    levels = list(accumulate((_or_zero(step) for step in steps), initial=0.0))
    levels = [level if drawable(level) else 0.0 for level in levels]
    labels = [_signed(step) for step in steps] + [number_label(levels[-1])]
    names = [*category_names(frame, count), frame.word["sum"]]
    rows = Rows.lay_out(frame, names, levels, _ROW, labels)
    for index, step in enumerate(steps):
        rows.name(index, index in chart.marked)
        tip = value_title(chart.categories[index], series.name, step, chart.unit)
        cls = "af-up" if _or_zero(step) > 0 else "af-down"
        _step(rows, index, levels[index], levels[index + 1], cls, labels[index], tip)
        _link(rows, index, levels[index + 1])
    rows.name(count, False)
    _step(rows, count, 0.0, levels[-1], "af-other", labels[-1], value_title(names[-1], "", levels[-1], chart.unit))
    rows.finish()
    frame.note_gaps(chart.series)
    return frame.finish()


def _step(rows: Rows, index: int, before: float, after: float, cls: str, label: str, tip: str) -> None:
    y = rows.top + _ROW * index + (_ROW - _BAR) / 2
    start, end = rows.scale(before), rows.scale(after)
    rows.frame.canvas.rect(min(start, end), y, abs(end - start), _BAR, cls, title=tip)
    # Left of a bar that runs to the left of zero, else right of it: there the layout keeps room for labels.
    to_left = min(before, after) < 0 and end <= start
    x = min(start, end) - 4 if to_left else max(start, end) + 4
    room = text_width(label, 11) + 1
    anchor = "end" if to_left else "start"
    rows.frame.canvas.text(x, y + _BAR - 3, label, room, "af-soft", anchor=anchor, size=11, title=tip)


def _link(rows: Rows, index: int, level: float) -> None:
    x = rows.scale(level)
    y = rows.top + _ROW * index + (_ROW + _BAR) / 2
    rows.frame.canvas.line(x, y, x, y + _ROW - _BAR, "af-link")


def _or_zero(step: Optional[float]) -> float:
    return step if step is not None and drawable(step) else 0.0


def _signed(step: Optional[float]) -> str:
    label = gap_label(step)
    return f"+{label}" if step is not None and step > 0 else label
