"""html: one self-contained page that opens offline: the answer first, pictures, tables to sort and filter, provenance.

The page and its script are in `page/`; text from logs reaches it escaped by the template or as JSON, and a content
security policy allows no script but this one and no network.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, Dict, List

from autofuse.report.model import Report, ReportContext, Table

from autofuse_formats.charts import draw, stylesheet
from autofuse_formats.reporters.cells import encode, heading
from autofuse_formats.reporters.html_data import PageTable, column_tip, page_table
from autofuse_formats.reporters.provenance import provenance_lines
from autofuse_formats.reporters.svg import figure_svg
from autofuse_formats.reporters.visible import visible
from autofuse_formats.reporters.words import words

__all__ = ["write"]

_MANY_ROWS = 200_000
_LEADING_DRAWINGS = 3
"""Drawings that stand before the tables; with more of them the tables would be far down."""
_SCRIPT_WORDS = (
    "Filter",
    "filter help",
    "previous page",
    "next page",
    "rows per page",
    "choose columns",
    "columns {} of {}",
    "all",
    "usual",
    "rows {}–{} of {}",
    "(of {})",
    "no row matches",
    "copy",
    "copy {}",
    "copied {}",
    "the first {} of {} rows are printed; filter to print others",
)


def write(report: Report, out: BinaryIO, context: ReportContext) -> None:
    """Writes the page; a notice when it holds more rows than browsers like."""
    tables = [page_table(table, context.lang) for table in report.tables]
    rows = sum(table.count for table in tables)
    if rows > _MANY_ROWS:
        context.notice(f"the page holds {rows} rows, browsers become slow; csv, jsonl and xlsx do not")
    out.write(encode(_page(report, tables, context)))


def _page(report: Report, tables: List[PageTable], context: ReportContext) -> str:
    from jinja2 import Environment
    from markupsafe import Markup

    environment = Environment(autoescape=True, trim_blocks=True, keep_trailing_newline=True)
    template = environment.from_string(_asset("page.html"))
    script = _asset("page.js")
    style = _asset("page.css") + stylesheet()
    figures = _figures(report, context)
    leading, following = figures[:_LEADING_DRAWINGS], figures[_LEADING_DRAWINGS:]
    shown = [_table(index, table, data, context) for index, (table, data) in enumerate(zip(report.tables, tables))]
    return template.render(
        lang="zh-CN" if context.lang == "zh" else "en",
        policy=_policy(script, style, own_styles_only=not report.figures),
        title=visible(report.title),
        css=Markup(style),
        js=Markup(script),
        data=Markup(_data(tables, context)),
        word=words(context.lang),
        lead=[visible(line) for line in report.lead],
        notes=[visible(note) for note in report.notes],
        leading=leading,
        following=following,
        tables=shown,
        sections=[(part["id"], part["title"]) for part in (*leading, *shown, *following)],
        provenance=[(visible(name), visible(text)) for name, text in provenance_lines(report.provenance, context.lang)],
    )


def _figures(report: Report, context: ReportContext) -> List[Dict[str, Any]]:
    from markupsafe import Markup

    # A figure was drawn for this very report, so it comes first.
    drawings = [(figure.title or figure.name, figure.title, figure_svg(figure)[0]) for figure in report.figures]
    drawings += [(chart.title or chart.name, "", draw(chart, context.lang).element()) for chart in report.charts]
    return [
        {"id": f"figure-{index}", "title": visible(title), "caption": visible(caption), "svg": Markup(svg)}
        for index, (title, caption, svg) in enumerate(drawings)
    ]


def _table(index: int, table: Table, data: PageTable, context: ReportContext) -> Dict[str, Any]:
    heads = [
        {"label": visible(heading(column, context.lang)), "tip": column_tip(column), "numeric": numeric}
        for column, numeric in zip(table.columns, data.numeric)
    ]
    return {
        "id": f"table-{index}",
        "title": visible(table.title or table.name),
        "heads": heads,
        "first_rows": data.first_rows,
        "count": data.count,
        "notes": [visible(note) for note in table.notes],
    }


def _data(tables: List[PageTable], context: ReportContext) -> str:
    word = words(context.lang)
    shown = json.dumps({key: word[key] for key in _SCRIPT_WORDS}, ensure_ascii=False)
    folder = json.dumps(os.getcwd() if any(table.relative for table in tables) else "", ensure_ascii=False)
    text = f'{{"folder":{folder},"words":{shown},"tables":[{",".join(table.data for table in tables)}]}}'
    # Within JSON these characters stand in strings only; escaped, nothing in the data can end the script element.
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _policy(script: str, style: str, own_styles_only: bool) -> str:
    # Drawings of plugins bring styles of their own; with no network to load from, styles do no harm.
    styles = _digest(style) if own_styles_only else "'unsafe-inline'"
    return f"default-src 'none'; script-src {_digest(script)}; style-src {styles}; base-uri 'none'; form-action 'none'"


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


@cache
def _asset(name: str) -> str:
    return Path(__file__).with_name("page").joinpath(name).read_text(encoding="utf-8")
