"""md: the report as GitHub Markdown, tables with every column; names cannot become markup, links or mentions."""

from __future__ import annotations

import re
from typing import BinaryIO, Iterator

from autofuse.report.model import Provenance, Report, ReportContext, Table

from autofuse_formats.reporters.cells import cell_text, heading, in_chunks, padded
from autofuse_formats.reporters.provenance import provenance_lines
from autofuse_formats.reporters.visible import visible
from autofuse_formats.reporters.words import words

__all__ = ["write"]

_SPECIAL = re.compile(r"[\\`*\[\]<>&|~#@$!{}]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])|(?<=:)//|(?<=www)\.")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "&#64;", "//": "&#47;&#47;", ".": "&#46;", "|": "\\|"}


def write(report: Report, out: BinaryIO, context: ReportContext) -> None:
    """Writes title, lead, tables, notes and provenance."""
    for chunk in in_chunks(_lines(report, context)):
        out.write(chunk)


def _lines(report: Report, context: ReportContext) -> Iterator[str]:
    word = words(context.lang)
    yield f"# {_escaped(report.title)}"
    for line in report.lead:
        yield from ("", _paragraph(line))
    for table in report.tables:
        yield from _table(table, context)
    if report.notes:
        yield from ("", f"## {word['Notes']}", "")
        yield from (f"- {_escaped(note)}" for note in report.notes)
    yield from _provenance(report.provenance, context)


def _table(table: Table, context: ReportContext) -> Iterator[str]:
    yield from ("", f"## {_escaped(table.title or table.name)}", "")
    yield _row(_escaped(heading(column, context.lang)) for column in table.columns)
    yield _row("---:" if column.kind in ("int", "float") else "---" for column in table.columns)
    for row in table.rows:
        yield _row(_escaped(cell_text(cell, column)) for cell, column in zip(padded(row, table.columns), table.columns))
    for note in table.notes:
        yield from ("", _paragraph(note))


def _provenance(provenance: Provenance, context: ReportContext) -> Iterator[str]:
    lines = list(provenance_lines(provenance, context.lang))
    if lines:
        yield from ("", f"## {words(context.lang)['Provenance']}", "")
        yield from (f"- {_escaped(name)}: {_escaped(value)}" for name, value in lines)


def _row(cells: Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _paragraph(text: str) -> str:
    # A dash, plus or `1.` at the start of a paragraph would make a list of it, `=` a heading of the line above.
    return re.sub(r"^(\s*[0-9]*)([-+=.)])", r"\1\\\2", _escaped(text))


def _escaped(text: str) -> str:
    return _SPECIAL.sub(_entity, visible(text))


def _entity(match: re.Match[str]) -> str:
    found = match.group()
    return _ENTITIES.get(found, f"\\{found}")
