"""The whole drawing: one section per operator, one column per group, cases as tabs, what varies most under them."""

from __future__ import annotations

import math
from typing import Dict, Iterable, Iterator, List, NamedTuple, Sequence, Tuple

from autofuse_att_perf.analysis import GroupAnalysis, OperatorAnalysis, TemplateAnalysis
from autofuse_att_perf.candidates import OperatorLog
from autofuse_att_perf.drawing.panel import Columns, Panel, bar_length, draw_bars, draw_panel
from autofuse_att_perf.drawing.style import FONT, SMALL, STYLE, TITLE
from autofuse_att_perf.drawing.text import amount, escape, label, shorten, width
from autofuse_att_perf.variation import Variation, parameter_variations, term_variations

__all__ = ["Section", "assemble", "draw", "draw_section", "page_width"]

_WIDTH = 1280.0
_MARGIN = 24.0
_GAP = 16.0
_PAD = 14.0
_TAB_HEIGHT = 24.0
_MAX_TAB = 160.0
_SINGLE = 760.0
"""A single column is not stretched over the whole page."""


class Section(NamedTuple):
    """One operator, drawn."""

    markup: bytes
    """UTF-8: drawings are large, and text with a star in it takes two bytes for every character."""
    height: float


def draw(analyses: Sequence[OperatorAnalysis], title: str) -> str:
    """The complete `<svg>` element as text."""
    page = page_width([analysis.log for analysis in analyses])
    sections = [draw_section(analysis, number, page) for number, analysis in enumerate(analyses)]
    return b"".join(assemble(sections, title, page)).decode("utf-8")


def page_width(logs: Iterable[OperatorLog]) -> float:
    """Narrower when no operator has groups that stand side by side."""
    return _WIDTH if any(log.may_have_groups for log in logs) else _SINGLE + 2 * _MARGIN


def assemble(sections: Sequence[Section], title: str, page: float) -> Iterator[bytes]:
    """The `<svg>` element of these sections, one under the other, piece by piece."""
    empty = 0.0 if sections else 24.0
    height = math.ceil(60 + empty + sum(section.height + _GAP for section in sections) + _MARGIN - _GAP)
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" version="1.1" class="pf" '
        f'width="{page:g}" height="{height}" viewBox="0 0 {page:g} {height}" role="group">\n'
        f'<title>{escape(title)}</title>\n<style type="text/css"><![CDATA[\n{STYLE}\n]]></style>\n'
        f'<rect class="page" width="{page:g}" height="{height}"/>\n'
        f"{label(title, _MARGIN, 36, page - 2 * _MARGIN, TITLE, 'h')}\n"
    )
    yield head.encode("utf-8")
    y = 60.0
    if not sections:
        yield label("nothing to draw: no operator has a formula", _MARGIN, y + 12, page - _MARGIN, FONT, "m").encode()
    for section in sections:
        yield f'<g transform="translate({_MARGIN:g},{y:g})">'.encode()
        yield section.markup
        yield b"</g>\n"
        y += section.height + _GAP
    yield b"</svg>\n"


# --- one operator -----------------------------------------------------------------------------------------------------


def draw_section(analysis: OperatorAnalysis, number: int, page: float) -> Section:
    """One operator on a page of that width; `number` keeps the ids of several operators apart."""
    inner = page - 2 * _MARGIN
    parts = [f'<path class="rule" d="M0 0h{inner:g}"/>', label(analysis.log.name, 0, 26, inner, TITLE, "h")]
    parts.append(label(_subtitle(analysis) or " ", 0, 44, inner, SMALL, "m"))
    y = 56.0
    groups = analysis.groups
    per_row = len(groups) if len(groups) <= 3 else 2
    column = min((inner - _GAP * (per_row - 1)) / per_row, _SINGLE)
    for start in range(0, len(groups), per_row):
        cards = [
            _Card(group, column, f"pf-{number}-{start + offset}")
            for offset, group in enumerate(groups[start : start + per_row])
        ]
        height = max(card.height for card in cards)
        for index, card in enumerate(cards):
            parts.append(f'<g transform="translate({index * (column + _GAP):g},{y:g})">{card.markup(height)}</g>')
        y += height + _GAP
    return Section("\n".join(parts).encode("utf-8"), y)


def _subtitle(analysis: OperatorAnalysis) -> str:
    log = analysis.log
    words = []
    if log.shape:
        words.append(" ".join(f"{name}={value}" for name, value in log.shape.items()))
    if log.invocation:
        words.append(f"call {log.invocation}")
    if log.hardware:
        words.append(" ".join(f"{name} {value}" for name, value in log.hardware.items()))
    if log.source:
        words.append(log.source)
    return " · ".join(words)


# --- one group --------------------------------------------------------------------------------------------------------


class _Card:
    """One group: its title, the tabs, a panel per case, and the comparison of the cases."""

    def __init__(self, group: GroupAnalysis, width_: float, identity: str) -> None:
        self.group = group
        self.width = width_
        self.identity = identity
        self.columns = Columns(width_ - 2 * _PAD)
        self.tabs = _Tabs(group, self.columns.width)
        scale = _scale(group)
        self.panels = [draw_panel(template, self.columns, scale) for template in group.templates]
        self.comparison = _comparison(group, self.columns)
        self.panel_y = 34 + self.tabs.height + 10
        self.panel_height = max(panel.y for panel in self.panels)
        self.height = self.panel_y + self.panel_height + self.comparison.y + _PAD

    def markup(self, height: float) -> str:
        """The card, `height` high."""
        group = self.group
        parts = [f'<rect class="card" x="0.5" y="0.5" width="{self.width - 1:g}" height="{height - 1:g}" rx="6"/>']
        parts.append(f'<g transform="translate({_PAD:g},0)">')
        parts.append(label(_title(group), 0, 24, self.columns.width, FONT, "b" if group.in_result else ""))
        parts.append(self._tab_strip())
        # The panel that is shown by default stands last, so that any other one that is a target comes before it.
        default = group.templates.index(group.shown)
        order = [index for index in range(len(self.panels)) if index != default] + [default]
        parts.append("<g>" + "".join(self._panel(index, index == default) for index in order) + "</g>")
        y = self.panel_y + self.panel_height
        parts.append(f'<g transform="translate(0,{y:g})">{"".join(self.comparison.parts)}</g></g>')
        return "".join(parts)

    def _tab_strip(self) -> str:
        links = [
            f'<a xlink:href="#{self.identity}-{index}">{tab.markup}</a>' for index, tab in enumerate(self.tabs.tabs)
        ]
        return f'<g transform="translate(0,34)">{"".join(links)}</g>'

    def _panel(self, index: int, default: bool) -> str:
        mark = f'<g transform="translate(0,34)">{self.tabs.tabs[index].mark}</g>'
        body = "".join(self.panels[index].parts)
        return (
            f'<g id="{self.identity}-{index}" class="panel{" default" if default else ""}">{mark}'
            f'<g transform="translate(0,{self.panel_y:g})">{body}</g></g>'
        )


def _title(group: GroupAnalysis) -> str:
    name = "[PERF] lines without a template" if group.id is None else "graph{} result{} g{}".format(*group.id)
    return f"{name} · chosen result" if group.in_result else name


def _scale(group: GroupAnalysis) -> float:
    """The largest finite number of cycles that any pipe or term of the group has."""
    largest = 0.0
    for template in group.templates:
        for pipe in template.pipes:
            values = [term.value for term in pipe.terms]
            values.append(pipe.shown)
            for value in values:
                # False for nan.
                if value is not None and largest < abs(value) < math.inf:
                    largest = abs(value)
    return largest


class _Tab:
    """The tab of one case; the chosen case has a star and is blue."""

    def __init__(self, template: TemplateAnalysis, x: float, y: float, room: float) -> None:
        self.chosen = template.candidate.chosen
        self.whole = tab_text(template)
        self.text = shorten(self.whole, room - 12, SMALL)
        self.x, self.y = x, y
        self.width = math.ceil(width(self.text, SMALL)) + 12

    @property
    def markup(self) -> str:
        """Box and text."""
        box, text = ("sel", "selt") if self.chosen else ("tab", "s")
        title = "" if self.text == self.whole else f"<title>{escape(self.whole)}</title>"
        return (
            f'<rect class="{box}" x="{self.x:g}" y="{self.y:g}" width="{self.width:g}" height="18" rx="4"/>'
            f'<text class="{text}" x="{self.x + 6:g}" y="{self.y + 13:g}">{title}{escape(self.text)}</text>'
        )

    @property
    def mark(self) -> str:
        """The line under the tab whose panel is open."""
        return (
            f'<rect class="on" x="{self.x + 2:g}" y="{self.y + 19:g}" width="{self.width - 4:g}" height="2.5" rx="1"/>'
        )


def tab_text(template: TemplateAnalysis) -> str:
    """`★ case R0` for the chosen one."""
    case = template.candidate.case
    name = f"case {case}" if case else "[PERF]"
    return f"★ {name}" if template.candidate.chosen else name


class _Tabs:
    """Tabs from left to right, in as many rows as they need."""

    def __init__(self, group: GroupAnalysis, room: float) -> None:
        self.tabs: List[_Tab] = []
        x = y = 0.0
        for template in group.templates:
            tab = _Tab(template, x, y, min(_MAX_TAB, room))
            if x and x + tab.width > room:
                x, y = 0.0, y + _TAB_HEIGHT
                tab.x, tab.y = x, y
            self.tabs.append(tab)
            x += tab.width + 4
        self.height = y + _TAB_HEIGHT


# --- across the cases -------------------------------------------------------------------------------------------------


def _comparison(group: GroupAnalysis, columns: Columns) -> Panel:
    """The parameter (or else the term) that varies most, one orange bar per case."""
    panel = Panel(columns)
    if len(group.templates) < 2:
        return panel
    varying = _most_varying(group)
    panel.y = 10
    if varying is None:
        panel.line("no parameter and no term differs between the cases", "m")
        return panel
    unit = " cycles" if varying.kind == "term" else ""
    panel.line(f"varies most across the cases: {varying.name} (variance {varying.variance:.4g})", "m")
    chosen = group.chosen.candidate.case if group.chosen else None
    largest = max(abs(value) for value in varying.values)
    bars: Dict[str, List[Tuple[int, int, float]]] = {"sens": [], "neg": []}
    for case, value in zip(varying.cases, varying.values):
        bars["neg" if value < 0 else "sens"].append((panel.y + 4, 9, bar_length(columns, value, largest)))
        name = f"★ case {case}" if case == chosen else f"case {case}"
        panel.row(name, f"{amount(value)}{unit}", "b s" if case == chosen else "s", 0, SMALL, 16)
    for css, boxes in bars.items():
        draw_bars(panel, boxes, css)
    return panel


def _most_varying(group: GroupAnalysis) -> Variation | None:
    for variations in (parameter_variations, term_variations):
        found = variations(group)
        if found and found[0].variance > 0:
            return found[0]
    return None
