"""Chooses the drawing of each kind of chart; a chart without a single number says so instead."""

from __future__ import annotations

from typing import Callable, Dict

from autofuse.errors import EXIT_BROKEN, AutofuseError
from autofuse.report.model import Chart

from autofuse_formats.charts.bars import draw_bars, draw_stacked
from autofuse_formats.charts.canvas import Drawing
from autofuse_formats.charts.frame import Frame
from autofuse_formats.charts.heatmap import draw_heatmap
from autofuse_formats.charts.lines import draw_lines
from autofuse_formats.charts.scale import drawable
from autofuse_formats.charts.waterfall import draw_waterfall

__all__ = ["draw"]

_KINDS: Dict[str, Callable[[Frame], Drawing]] = {
    "bar": draw_bars,
    "stacked": draw_stacked,
    "line": draw_lines,
    "heatmap": draw_heatmap,
    "waterfall": draw_waterfall,
}


def draw(chart: Chart, lang: str = "en") -> Drawing:
    """The chart as a drawing; AutofuseError (exit code 3) for a kind that there is not."""
    if chart.kind not in _KINDS:
        raise AutofuseError(
            f"chart {chart.name!r} has the kind {chart.kind!r}",
            hint=f"kinds: {', '.join(_KINDS)}",
            exit_code=EXIT_BROKEN,
        )
    frame = Frame(chart, lang)
    count = len(chart.categories)
    if not any(drawable(value) for series in chart.series for value in series.values[:count]):
        return frame.empty()
    return _KINDS[chart.kind](frame)
