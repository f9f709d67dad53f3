"""What every chart has around its plot: title, legend, notes, and the message of an empty one."""

from __future__ import annotations

import math
from typing import Iterable, List, Optional, Sequence, Tuple

from autofuse.report.model import Chart, Series

from autofuse_formats.charts.canvas import Canvas, Drawing
from autofuse_formats.charts.scale import drawable
from autofuse_formats.charts.text import number_label, text_width
from autofuse_formats.charts.theme import SERIES_COLOURS
from autofuse_formats.reporters.words import words

__all__ = ["MARGIN", "WIDTH", "Frame", "gap_label", "value_title"]

WIDTH = 960
MARGIN = 16
_TITLE = 15
_LINE = 18
_LEGEND_LONGEST = 240


class Frame:
    """Lays out one chart from top to bottom; `y` is where the next part begins."""

    def __init__(self, chart: Chart, lang: str) -> None:
        self.chart = chart
        self.word = words(lang)
        self.canvas = Canvas(WIDTH)
        self.y = float(MARGIN)
        self._notes: List[str] = []
        if chart.title:
            self.canvas.text(MARGIN, self.y + _TITLE, chart.title, WIDTH - 2 * MARGIN, size=_TITLE, bold=True)
            self.y += _TITLE + 11

    @property
    def value_title(self) -> str:
        """Title of the axis of values with the unit."""
        title, unit = self.chart.y_title, self.chart.unit
        return f"{title} ({unit})" if title and unit else title or unit

    def legend(self, entries: Sequence[Tuple[str, str]]) -> None:
        """Squares with names, (class, name) each, in as many lines as they need."""
        x = float(MARGIN)
        for cls, name in entries:
            width = min(text_width(name[:400], 12), _LEGEND_LONGEST) + 1
            if x > MARGIN and x + 16 + width > WIDTH - MARGIN:
                x = float(MARGIN)
                self.y += _LINE
            self.canvas.rect(x, self.y + 2, 11, 11, cls)
            self.canvas.text(x + 16, self.y + 12, name, width, "af-soft")
            x += 16 + width + 18
        if entries:
            self.y += _LINE + 6

    def series_legend(self) -> None:
        """The legend of charts whose series have colours of their own."""
        self.legend([(f"af-s{index % SERIES_COLOURS}", s.name) for index, s in enumerate(self.chart.series)])

    def note(self, text: str) -> None:
        """Adds a line below the plot."""
        self._notes.append(text)

    def note_gaps(self, series: Iterable[Series]) -> None:
        """Says how many values are gaps because they are nan or infinite."""
        odd = sum(1 for s in series for value in s.values if value is not None and not drawable(value))
        if odd:
            self.note(self.word["without a bar or point (nan, infinite or beyond 1e300): {}"].format(odd))

    def finish(self) -> Drawing:
        """Notes of the chart and of the drawing, then the drawing itself."""
        for note in (*self.chart.notes, *self._notes):
            self.canvas.text(MARGIN, self.y + 13, note, WIDTH - 2 * MARGIN, "af-soft")
            self.y += _LINE
        return self.canvas.finish(self.y + MARGIN)

    def empty(self) -> Drawing:
        """A chart with nothing to draw says so."""
        self.canvas.rect(MARGIN, self.y, WIDTH - 2 * MARGIN, 64, "af-gap")
        room = WIDTH - 4 * MARGIN
        self.canvas.text(WIDTH / 2, self.y + 37, self.word["no data"], room, "af-soft", anchor="middle", size=14)
        self.y += 72
        self.note_gaps(self.chart.series)
        return self.finish()


def gap_label(value: Optional[float]) -> str:
    """What stands where a bar would be: a dash for a missing value, else `nan`, `inf` or `-inf`."""
    if value is None:
        return "–"
    return f"{value:g}" if not math.isfinite(value) else number_label(value)


def value_title(category: str, series: str, value: Optional[float], unit: str) -> str:
    """The tooltip of one value: what it is and the value in full."""
    number = "–" if value is None else repr(float(value)) if not isinstance(value, int) else str(value)
    names = " · ".join(name for name in (category, series) if name)
    return f"{names}: {number}{f' {unit}' if unit and value is not None else ''}"
