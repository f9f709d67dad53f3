"""Charts with one row per category: names on the left, a horizontal axis of values below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, List

from autofuse_formats.charts.frame import MARGIN, WIDTH, Frame
from autofuse_formats.charts.scale import Scale, scale_for
from autofuse_formats.charts.text import number_label, text_width

__all__ = ["Rows", "category_names"]

_LABEL_LONGEST = 360
_GAP = 10
_SIZE = 12
_TICK_ROOM = 90


@dataclass
class Rows:
    """The plot of a chart with rows: where it begins, the scale of its values, and the height of a row."""

    frame: Frame
    names: List[str]
    left: float
    top: float
    scale: Scale
    height: float

    @staticmethod
    def lay_out(frame: Frame, names: List[str], values: Iterable[float], height: float, labels: Iterable[str]) -> Rows:
        """Plans the plot for rows `height` pixels high; `labels` stand beside the bars and must have room."""
        values = list(values)
        label_room = max((text_width(label, 11) for label in labels), default=0.0) + 8
        name_room = min(max((text_width(name[:400], _SIZE) for name in names), default=0.0) + 1, _LABEL_LONGEST)
        left = MARGIN + name_room + _GAP
        negative = any(value < 0 for value in values)
        positive = any(value > 0 for value in values) or not negative
        start = left + (label_room if negative else 0)
        end = WIDTH - MARGIN - (label_room if positive else 0)
        if end - start < 60:
            start, end = left, float(WIDTH - MARGIN)
        rows = Rows(frame, names, left, frame.y, scale_for(values, start, end, True), height)
        rows._axis()
        return rows

    @property
    def bottom(self) -> float:
        """Lower end of the rows."""
        return self.top + self.height * len(self.names)

    def name(self, index: int, marked: bool) -> None:
        """The name of a row; a marked one is blue, on a band that runs through the plot."""
        y = self.top + self.height * index
        if marked:
            self.frame.canvas.rect(MARGIN / 2, y, WIDTH - MARGIN, self.height, "af-band")
        self.frame.canvas.text(
            self.left - _GAP,
            y + self.height / 2 + 4,
            self.names[index],
            self.left - _GAP - MARGIN,
            "af-mark" if marked else "af-ink",
            anchor="end",
        )

    def finish(self) -> None:
        """The zero line above the bars, and room for what follows."""
        zero = self.scale(0.0)
        self.frame.canvas.line(zero, self.top, zero, self.bottom, "af-axis")
        self.frame.y = self.bottom + 26
        if self.frame.value_title:
            room = WIDTH - 2 * MARGIN
            self.frame.canvas.text(
                WIDTH - MARGIN, self.frame.y + 10, self.frame.value_title, room, "af-soft", anchor="end"
            )
            self.frame.y += 20

    def _axis(self) -> None:
        count = max(2, int((self.scale.end - self.scale.start) / _TICK_ROOM))
        last = -1e9
        for tick in self.scale.ticks(count):
            x = self.scale(tick)
            self.frame.canvas.line(x, self.top, x, self.bottom, "af-grid")
            label = number_label(tick)
            half = text_width(label, 11) / 2
            if x - half > last + 6 and x + half <= WIDTH - 2 and x - half >= 2:
                self.frame.canvas.text(x, self.bottom + 15, label, 2 * half + 1, "af-soft", anchor="middle", size=11)
                last = x + half


def category_names(frame: Frame, count: int) -> List[str]:
    """The first `count` categories, a star before the marked ones."""
    marked = set(frame.chart.marked)
    return [f"★ {name}" if index in marked else name for index, name in enumerate(frame.chart.categories[:count])]
