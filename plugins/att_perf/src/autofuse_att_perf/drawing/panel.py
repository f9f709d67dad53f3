"""One case of one group as a panel: objective, pipes with their terms, and what moves the objective."""

from __future__ import annotations

import math
from typing import List, Optional, Sequence, Tuple

from autofuse_att_perf.analysis import PipeAnalysis, TemplateAnalysis
from autofuse_att_perf.drawing.style import FONT, SMALL
from autofuse_att_perf.drawing.text import amount, fitted, label, percent
from autofuse_att_perf.tables import percent_of
from autofuse_att_perf.terms import Term

__all__ = ["Columns", "Panel", "draw_bars", "draw_panel"]

MAX_TERMS = 16
"""Terms drawn under a pipe; the others are one bar together, and the tables have all."""
_MAX_PARAMETERS = 6
_PIPE_ROW = 22
_TERM_ROW = 16
_GAP = 8


class Columns:
    """Where names, bars and numbers stand in a panel of one width."""

    def __init__(self, width: float) -> None:
        self.width = width
        self.right = f"{width:g}"
        self.bar_x = round(width * 0.4)
        """Left end of the bars."""
        self.name_width = self.bar_x - 8
        """Room of the names."""
        self.number_width = max(124, round(width * 0.16))
        """Room of the numbers at the right edge: `-1.234e+308 -100%`."""
        self.bar_width = width - self.bar_x - self.number_width - 8
        """Length of the longest bar."""


class Panel:
    """Markup that grows downwards from y = 0."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.parts: List[str] = []
        self.y = 0

    def line(self, text: str, css: str, size: float = SMALL) -> None:
        """One line of text over the whole width."""
        self.parts.append(label(text, 0, self.y + 12, self.columns.width, size, css))
        self.y += _TERM_ROW + 1

    def row(self, name: str, number: str, css: str, indent: int, size: float, height: int) -> None:
        """A name at the left and a number at the right."""
        columns = self.columns
        y = self.y + height - 5
        shown = fitted(name, columns.name_width - indent, size)
        # Numbers are plain ASCII and never longer than their room, which spares the two calls most often made.
        self.parts.append(
            f'<text class="{css}" x="{indent}" y="{y}">{shown}</text>'
            f'<text class="n {css}" x="{columns.right}" y="{y}">{number}</text>'
        )
        self.y += height


def draw_panel(template: TemplateAnalysis, columns: Columns, scale: float) -> Panel:
    """The panel of one template; a bar of `scale` cycles is as long as bars get."""
    panel = Panel(columns)
    _draw_head(panel, template)
    bottleneck = template.bottleneck
    for pipe in sorted(template.pipes, key=_pipe_order):
        _draw_pipe(panel, pipe, pipe is bottleneck, scale)
    _draw_sensitivities(panel, template)
    return panel


def draw_bars(panel: Panel, bars: Sequence[Tuple[int, int, float]], css: str) -> None:
    """(top, height, width) of bars of one colour, as one path; what has no width is left out."""
    x = panel.columns.bar_x
    steps = [f"M{x} {top}h{width:.1f}v{height}h-{width:.1f}z" for top, height, width in bars if width > 0]
    if steps:
        panel.parts.append(f'<path class="{css}" d="{"".join(steps)}"/>')


def bar_length(columns: Columns, value: Optional[float], scale: float) -> float:
    """Pixels of a bar; 0 for what has no size; `scale` is finite and no smaller than any finite value."""
    if value is None or not scale:
        return 0.0
    length = abs(value) / scale * columns.bar_width
    # False for nan; an infinite value has no bar either.
    return length if length <= columns.bar_width else 0.0


def _pipe_order(pipe: PipeAnalysis) -> Tuple[float, str]:
    shown = pipe.shown
    return (-shown if shown is not None and not math.isnan(shown) else math.inf, pipe.name)


def _draw_head(panel: Panel, template: TemplateAnalysis) -> None:
    objective, head = template.shown_objective, template.head_cost
    css = "b" if template.candidate.chosen else ""
    panel.parts.append(label(f"objective {amount(objective)} cycles", 0, 12, panel.columns.width, FONT, css))
    panel.y += _TERM_ROW + 2
    share = percent(percent_of(head, objective))
    if head is not None:
        panel.line(f"head cost {amount(head)}" + (f" ({share})" if share else ""), "m")
    if template.usage:
        panel.line(", ".join(use.words for use in template.usage), "m")
    text, css = _check_line(template)
    panel.line(text, css)


def _check_line(template: TemplateAnalysis) -> Tuple[str, str]:
    statuses = [check.status for check in template.checks]
    wrong = [check for check in template.checks if check.status in ("mismatch", "missing_symbol", "error")]
    if wrong:
        first = wrong[0]
        detail = first.note or f"{first.quantity} is {amount(first.formula)}, log {first.logged}"
        return f"⚠ {len(wrong)} of {len(statuses)} checks fail: {detail}", "w"
    good = statuses.count("ok")
    origin = {"source": "sources", "log": "[PERF] lines", "source+log": "sources and [PERF] lines"}.get(template.origin)
    if origin is None:
        return "no formula: values as logged", "m"
    return (f"✓ {good} values equal the log" if good else "nothing logged to check against") + f" · from {origin}", "m"


def _draw_pipe(panel: Panel, pipe: PipeAnalysis, bottleneck: bool, scale: float) -> None:
    shown, columns = pipe.shown, panel.columns
    top = panel.y
    panel.row(pipe.name, amount(shown), "e" if bottleneck else "", 0, FONT, _PIPE_ROW)
    draw_bars(panel, [(top + 6, 13, bar_length(columns, shown, scale))], "max" if bottleneck else "pipe")
    bars: List[Tuple[int, int, float]] = []
    negative: List[Tuple[int, int, float]] = []
    whole = pipe.whole
    for term in _cut(sorted(pipe.terms, key=_by_size)):
        value = term.value
        if value is None:
            panel.row(term.label, amount(value), "s", 12, SMALL, _TERM_ROW)
            continue
        # The bar of a term is its share of the pipe's bar, so terms can be compared over pipes.
        (negative if value < 0 else bars).append((panel.y + 4, 9, bar_length(columns, value, scale)))
        share = percent(value / whole * 100) if whole else ""
        panel.row(term.label, f"{amount(value)} {share}", "s", 12, SMALL, _TERM_ROW)
    draw_bars(panel, bars, "maxterm" if bottleneck else "term")
    if negative:
        draw_bars(panel, negative, "neg")


def _by_size(term: Term) -> float:
    """The largest first, then what has no value."""
    value = term.value
    return 1.0 if value is None or value != value else -abs(value)


def _cut(terms: Sequence[Term]) -> Sequence[Term]:
    """The largest terms, and one that stands for all others."""
    if len(terms) <= MAX_TERMS + 1:
        return terms
    rest = terms[MAX_TERMS:]
    known = [term.value for term in rest if term.value is not None]
    total = sum(known) if len(known) == len(rest) else None
    return [*terms[:MAX_TERMS], Term("term", f"{len(rest)} smaller terms", total)]


def _draw_sensitivities(panel: Panel, template: TemplateAnalysis) -> None:
    ranking = template.ranking[:_MAX_PARAMETERS]
    if not ranking:
        return
    panel.y += _GAP
    target = "the objective" if ranking[0].target == "objective" else ranking[0].target
    panel.line(f"what moves {target} (elasticity)", "m")
    largest = max(abs(one.elasticity or 0.0) for one in ranking)
    bars = []
    for one in ranking:
        bars.append((panel.y + 4, 9, bar_length(panel.columns, one.elasticity, largest)))
        panel.row(f"{one.parameter} = {amount(float(one.value))}", f"{one.elasticity:+.3f}", "s", 0, SMALL, _TERM_ROW)
    draw_bars(panel, bars, "sens")
