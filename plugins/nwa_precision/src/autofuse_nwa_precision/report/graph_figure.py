"""The graph of the fused operators as a drawing: who feeds whom, coloured by error, the roots framed."""

from __future__ import annotations

import math
from typing import Dict, FrozenSet, List, Optional, Sequence, Tuple

from autofuse.report.model import Figure
from autofuse_formats.charts import stylesheet
from autofuse_formats.charts.canvas import Canvas

from autofuse_nwa_precision.blame import ROOT, Flow
from autofuse_nwa_precision.pairing import OUTPUT
from autofuse_nwa_precision.rows import Row

__all__ = ["graph_figure"]

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y, _MARGIN = 210, 44, 16, 34, 16
_MOST_NODES = 400
_PER_ROW = 10
_LEGEND = 44

_COLOURS = ("#1a9850", "#66bd63", "#a6d96a", "#fee08b", "#fdae61", "#f46d43", "#d73027")
"""From an error of 1e-7 and less to one above 1e-2, a decade each."""
_UNKNOWN = "#b8bec8"


def graph_figure(rows: Sequence[Row], flow: Flow) -> Figure:
    """The figure; it is drawn when a reporter asks for it."""
    return Figure("fused_graph", "Fused operators by error", lambda: _draw(rows, flow))


def _draw(rows: Sequence[Row], flow: Flow) -> str:
    worst = _worst_by_operator(rows)
    parents = flow.fused_parents()
    shown = _shown(worst, list(parents))
    layers = _layers(shown, parents)
    widest = max((len(layer) for layer in layers), default=1)
    canvas = Canvas(max(560, 2 * _MARGIN + widest * (_WIDTH + _GAP_X)))
    canvas.text(_MARGIN, 24, _title(len(shown), len(parents)), canvas.width - 2 * _MARGIN, size=14, bold=True)
    places = _places(layers, canvas.width)
    for name in shown:
        for parent in parents[name]:
            if parent in places:
                (x1, y1), (x2, y2) = places[parent], places[name]
                canvas.line(x1 + _WIDTH / 2, y1 + _HEIGHT, x2 + _WIDTH / 2, y2, "af-axis")
    for name in shown:
        _node(canvas, *places[name], name, worst.get(name))
    bottom = _LEGEND + len(layers) * (_HEIGHT + _GAP_Y)
    _legend(canvas, bottom)
    return canvas.finish(bottom + 36).element(stylesheet(), "Fused operators by error")


def _title(shown: int, all_of_them: int) -> str:
    return "Fused operators by error" + (f": the {shown} worst of {all_of_them}" if shown < all_of_them else "")


def _worst_by_operator(rows: Sequence[Row]) -> Dict[str, Row]:
    """The row that decides the colour of each operator: its worst compared output, else any."""
    worst: Dict[str, Row] = {}
    for row in rows:
        name = row.pair.fused.name
        if row.pair.side == OUTPUT and (name not in worst or _severity(row) > _severity(worst[name])):
            worst[name] = row
    return worst


def _severity(row: Optional[Row]) -> Tuple[bool, bool, float]:
    if row is None or row.metrics is None:
        return False, False, -1.0
    error = row.metrics.rel_l2
    return bool(row.blame == ROOT), row.failed, math.inf if math.isnan(error) else error


def _shown(worst: Dict[str, Row], names: List[str]) -> List[str]:
    """The operators drawn: all, or of many the worst, in topological order."""
    if len(names) <= _MOST_NODES:
        return names
    kept = set(sorted(names, key=lambda name: _severity(worst.get(name)), reverse=True)[:_MOST_NODES])
    return [name for name in names if name in kept]


def _layers(names: Sequence[str], parents: Dict[str, FrozenSet[str]]) -> List[List[str]]:
    """Operators by depth, each layer in rows of a readable width."""
    depth: Dict[str, int] = {}
    for name in names:
        depth[name] = 1 + max((depth[parent] for parent in parents[name] if parent in depth), default=-1)
    layers: List[List[str]] = []
    for level in range(max(depth.values(), default=-1) + 1):
        members = [name for name in names if depth[name] == level]
        layers.extend(members[start : start + _PER_ROW] for start in range(0, len(members), _PER_ROW))
    return layers


def _places(layers: Sequence[Sequence[str]], width: int) -> Dict[str, Tuple[float, float]]:
    places = {}
    for number, layer in enumerate(layers):
        left = (width - len(layer) * (_WIDTH + _GAP_X) + _GAP_X) / 2
        for place, name in enumerate(layer):
            places[name] = (left + place * (_WIDTH + _GAP_X), float(_LEGEND + number * (_HEIGHT + _GAP_Y)))
    return places


def _node(canvas: Canvas, x: float, y: float, name: str, row: Optional[Row]) -> None:
    if row is not None and row.blame == ROOT:
        canvas.rect(x - 4, y - 4, _WIDTH + 8, _HEIGHT + 8, cls="af-mark")
        canvas.rect(x - 1, y - 1, _WIDTH + 2, _HEIGHT + 2, cls="af-bg")
    canvas.rect(x, y, _WIDTH, _HEIGHT, fill=_colour(row), title=_tip(name, row))
    canvas.text(x + 6, y + 18, name, _WIDTH - 12, "", size=12, bold=True, fill="#10151c")
    canvas.text(x + 6, y + 35, _caption(row), _WIDTH - 12, "", size=11, fill="#10151c")


def _caption(row: Optional[Row]) -> str:
    if row is None:
        return "not compared"
    if row.metrics is None:
        return row.status
    metrics = row.metrics
    counts = [(metrics.nan_mismatches, "NaN"), (metrics.inf_mismatches, "Inf")]
    found = ", ".join(f"{count} {word}" for count, word in counts if count) or f"rel L2 {metrics.rel_l2:.2e}"
    return " ".join(part for part in (found, row.blame) if part)


def _tip(name: str, row: Optional[Row]) -> str:
    if row is None:
        return name
    parts = (name, row.blame, row.verdict or "", row.status, row.reason)
    return " | ".join(part for part in parts if part)


def _colour(row: Optional[Row]) -> str:
    if row is None or row.metrics is None:
        return _UNKNOWN
    error = row.metrics.rel_l2
    if math.isnan(error) or row.metrics.mismatches or math.isinf(error):
        return _COLOURS[-1]
    decade = math.ceil(math.log10(error)) + 7 if error > 0 else 0
    return _COLOURS[min(max(decade, 0), len(_COLOURS) - 1)]


def _legend(canvas: Canvas, y: float) -> None:
    labels = ("≤1e-7", "≤1e-6", "≤1e-5", "≤1e-4", "≤1e-3", "≤1e-2", ">1e-2")
    x = float(_MARGIN)
    for colour, label in (*zip(_COLOURS, labels), (_UNKNOWN, "n/a")):
        canvas.rect(x, y, 14, 14, fill=colour)
        canvas.text(x + 18, y + 11, label, 44, "af-soft", size=11)
        x += 64
