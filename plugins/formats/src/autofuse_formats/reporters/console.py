"""console and text: the report as aligned plain text, for a terminal with colour and width, else as wide as it is.

On a terminal that is too narrow long names lose their middle, then the columns go below each other in blocks; in a file
nothing is shortened.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import BinaryIO, Iterator, List, Optional, Sequence, Tuple

from autofuse.report.model import Cell, Column, Report, ReportContext, Table

from autofuse_formats.reporters.cells import cell_text, heading, in_chunks, is_number, padded
from autofuse_formats.reporters.visible import display_width, pad, shorten, visible
from autofuse_formats.reporters.words import words

__all__ = ["write", "write_text"]

_GAP = "  "
_MISSING = "-"
_RECOGNISABLE = 24
"""Columns that a name keeps when it is shortened so that a table fits."""
_NARROWEST = 8
"""Columns that a name keeps on the narrowest terminal."""
_WIDEST = 200
"""A longer cell is written whole but does not widen its column: one hostile name must not multiply the output."""


def write(report: Report, out: BinaryIO, context: ReportContext) -> None:
    """Writes lead, tables and notes, fitted to the width and coloured where the context says so."""
    for chunk in in_chunks(_lines(report, context)):
        out.write(chunk)


def write_text(report: Report, out: BinaryIO, context: ReportContext) -> None:
    """The same as plain text: no colour, nothing shortened."""
    write(report, out, replace(context, colour=False, width=None))


@dataclass
class _Field:
    """One shown column: its place in the row, its heading, width and alignment."""

    index: int
    column: Column
    head: str
    width: int
    right: bool

    def text(self, cells: Sequence[Cell]) -> str:
        return visible(cell_text(cells[self.index], self.column)) or _MISSING


def _lines(report: Report, context: ReportContext) -> Iterator[str]:
    style = _Style(context.colour)
    parts = 0
    if report.lead:
        yield from map(visible, report.lead)
        parts += 1
    for table in (table for table in report.tables if not table.detail):
        if parts:
            yield ""
        yield from _table_lines(table, context, style)
        parts += 1
    if report.notes:
        if parts:
            yield ""
        yield from map(visible, report.notes)


def _table_lines(table: Table, context: ReportContext, style: _Style) -> Iterator[str]:
    if table.title:
        yield style.bold(visible(table.title))
    fields, rows = _measure(table, context.lang)
    blocks = _blocks(fields, rows, context.width)
    for number, block in enumerate(blocks):
        if number:
            yield ""
        yield from _block_lines(table, block, style, shortened=context.width is not None)
    if not rows:
        yield style.dim(words(context.lang)["(no rows)"])
    for note in table.notes:
        yield style.dim(visible(note))


def _block_lines(table: Table, block: List[_Field], style: _Style, shortened: bool) -> Iterator[str]:
    if not block:
        return
    heads = [pad(shorten(field.head, field.width), field.width, field.right) for field in block]
    yield style.bold(_GAP.join(heads).rstrip())
    yield _GAP.join("-" * field.width for field in block)
    for number, row in enumerate(table.rows, start=1):
        cells = padded(row, table.columns)
        texts = [str(number) if field.index < 0 else field.text(cells) for field in block]
        if shortened:
            texts = [text if field.right else shorten(text, field.width) for text, field in zip(texts, block)]
        yield _GAP.join(pad(text, field.width, field.right) for text, field in zip(texts, block)).rstrip()


def _measure(table: Table, lang: str) -> Tuple[List[_Field], int]:
    """The shown columns with the widths of their content, and the number of rows; one pass over the rows."""
    fields = [
        _Field(index, column, visible(heading(column, lang)), 0, column.kind in ("int", "float"))
        for index, column in enumerate(table.columns)
        if not column.hidden
    ]
    for field in fields:
        field.width = min(display_width(field.head), _WIDEST)
    # A column of kind `any` is aligned as numbers when it holds nothing else.
    only_numbers = {field.index: field.column.kind == "any" for field in fields}
    rows = 0
    for rows, row in enumerate(table.rows, start=1):  # noqa: B007 (the count is used)
        cells = padded(row, table.columns)
        for field in fields:
            field.width = max(field.width, min(display_width(field.text(cells)), _WIDEST))
            if cells[field.index] is not None and not is_number(cells[field.index]):
                only_numbers[field.index] = False
    for field in fields:
        field.right = field.right or (rows > 0 and only_numbers[field.index])
    return fields, rows


def _blocks(fields: List[_Field], rows: int, width: Optional[int]) -> List[List[_Field]]:
    """The columns that stand beside each other; every block after a split starts with row number and first column."""
    if width is None or _total(fields) <= width or _narrowed(fields, width):
        return [fields]
    number = _Field(-1, Column("#"), "#", max(1, len(str(rows))), True)
    for field in fields:
        # Row number, the first column and one more stand beside each other.
        half = (width - number.width - 2 * len(_GAP)) // 2
        field.width = field.width if field.right else min(field.width, max(half, _NARROWEST))
    first, *rest = fields
    blocks = [[number, first]]
    for field in rest:
        if _total([*blocks[-1], field]) > width and len(blocks[-1]) > 2:
            blocks.append([number, first])
        blocks[-1].append(field)
    return blocks


def _narrowed(fields: List[_Field], width: int) -> bool:
    """Whether the table fits with all text columns at a common limit of at least `_RECOGNISABLE`; then they have it."""
    names = [field for field in fields if not field.right]
    space = width - _total(fields) + sum(field.width for field in names)
    for limit in range(_WIDEST, _RECOGNISABLE - 1, -1):
        if sum(min(field.width, limit) for field in names) <= space:
            for field in names:
                field.width = min(field.width, limit)
            return True
    return False


def _total(fields: List[_Field]) -> int:
    return sum(field.width for field in fields) + len(_GAP) * (len(fields) - 1)


class _Style:
    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def bold(self, text: str) -> str:
        return f"\x1b[1m{text}\x1b[0m" if self._colour else text

    def dim(self, text: str) -> str:
        return f"\x1b[2m{text}\x1b[0m" if self._colour else text
