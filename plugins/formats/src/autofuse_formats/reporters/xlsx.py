"""xlsx: one sheet per table and one for lead, notes and provenance; memory does not grow with the rows.

openpyxl makes the workbook with its styles, headings, widths and filters; the rows themselves are rendered by
`xlsx_rows` and put into the sheets when the archive is written. The same report gives the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, BinaryIO, Iterable, Iterator, List, Sequence, Tuple

from autofuse.errors import AutofuseError
from autofuse.report.model import Cell, Column, Report, ReportContext, Table

from autofuse_formats.reporters.cells import cell_text, padded
from autofuse_formats.reporters.provenance import provenance_lines
from autofuse_formats.reporters.visible import display_width
from autofuse_formats.reporters.xlsx_archive import save
from autofuse_formats.reporters.xlsx_names import SheetNames
from autofuse_formats.reporters.xlsx_rows import MAX_CHARACTERS, RowWriter, Styles, clean, number_format

__all__ = ["write"]

MAX_ROWS = 1_048_576
"""Rows of a sheet, heading included; Excel's limit."""
_MAX_COLUMNS = 16_384
_NARROWEST = 8
_WIDEST = 60
_SAMPLED_ROWS = 200
_HEADING_BLUE = "FF1F4E79"
_WHITE = "FFFFFFFF"


def write(report: Report, out: BinaryIO, context: ReportContext) -> None:
    """Writes the workbook; AutofuseError for a table with more columns than a sheet holds."""
    from openpyxl import Workbook

    book = _Book(Workbook(write_only=True), context)
    try:
        for table in (*report.tables, *_about(report, context)):
            book.add(table)
        save(book.workbook, [part.rows.content for part in book.parts], out, clean(report.title))
    finally:
        for part in book.parts:
            part.rows.content.close()


def _about(report: Report, context: ReportContext) -> Iterator[Table]:
    rows: List[Tuple[str, str]] = [("", line) for line in report.lead]
    for table in report.tables:
        rows += [(table.title or table.name, note) for note in table.notes]
    rows += [("", note) for note in report.notes]
    rows += provenance_lines(report.provenance, context.lang)
    if rows or not report.tables:
        yield Table("Provenance", (Column("Subject"), Column("Text")), rows)


@dataclass
class _Part:
    """One sheet of openpyxl and the rows that it will get."""

    sheet: Any
    rows: RowWriter
    letters: List[str]

    def fill(self, rows: Iterable[Sequence[Cell]]) -> None:
        self.rows.write(rows)
        if self.letters:
            self.sheet.auto_filter.ref = f"A1:{self.letters[-1]}{self.rows.last}"


class _Book:
    """Adds tables to a workbook as sheets."""

    def __init__(self, workbook: Any, context: ReportContext) -> None:
        self.workbook = workbook
        self.parts: List[_Part] = []
        self._context = context
        self._names = SheetNames()

    def add(self, table: Table) -> None:
        """One sheet, or several where the rows do not fit; a notice says so."""
        if len(table.columns) > _MAX_COLUMNS:
            what = f"table {table.name!r} has {len(table.columns)} columns, a sheet holds {_MAX_COLUMNS}"
            raise AutofuseError(what, hint="use csv or jsonl")
        widths = _widths(table)
        rows = iter(table.rows)
        before = len(self.parts)
        for first in _starts(rows):
            self.parts.append(self._part(table, widths, len(self.parts) - before + 1))
            self.parts[-1].fill(islice(chain(first, rows), MAX_ROWS - 1))
        self._tell(table, self.parts[before:])

    def _part(self, table: Table, widths: List[float], number: int) -> _Part:
        from openpyxl.utils import get_column_letter

        sheet = self.workbook.create_sheet(self._names.next(table.name, number))
        letters = [get_column_letter(index + 1) for index in range(len(table.columns))]
        for letter, width in zip(letters, widths):
            sheet.column_dimensions[letter].width = width
        sheet.freeze_panes = "A2"
        sheet.append([_heading(sheet, column.name) for column in table.columns])
        return _Part(sheet, RowWriter(table.columns, letters, _styles(sheet, table.columns)), letters)

    def _tell(self, table: Table, parts: List[_Part]) -> None:
        if len(parts) > 1:
            names = ", ".join(part.sheet.title for part in parts)
            self._context.notice(f"table {table.name} has more rows than a sheet holds; it goes on in sheets {names}")
        cut = sum(part.rows.cut for part in parts)
        if cut:
            self._context.notice(
                f"{cut} cells of table {table.name} were cut to the {MAX_CHARACTERS} characters that xlsx allows; "
                "csv and jsonl hold them whole"
            )


def _starts(rows: Iterator[Sequence[Cell]]) -> Iterator[List[Sequence[Cell]]]:
    """The first row of each sheet; the caller reads on in `rows` until the sheet is full. One sheet in any case."""
    yield []
    while True:
        first = list(islice(rows, 1))
        if not first:
            return
        yield first


def _heading(sheet: Any, name: str) -> Any:
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Alignment, Font, PatternFill

    cell = WriteOnlyCell(sheet, clean(name)[:MAX_CHARACTERS])
    cell.data_type = "s"
    cell.font = Font(bold=True, color=_WHITE)
    cell.fill = PatternFill("solid", fgColor=_HEADING_BLUE)
    cell.alignment = Alignment(vertical="center")
    return cell


def _styles(sheet: Any, columns: Tuple[Column, ...]) -> Styles:
    """Registers the styles of the rows with the workbook."""
    from openpyxl.cell import WriteOnlyCell

    quoted = WriteOnlyCell(sheet)
    quoted.quotePrefix = True
    numbers = []
    for column in columns:
        cell = WriteOnlyCell(sheet)
        cell.number_format = number_format(column.format) or "General"
        numbers.append(cell.style_id)
    return Styles(quoted.style_id, tuple(numbers))


def _widths(table: Table) -> List[float]:
    widths = [display_width(column.name) + 3 for column in table.columns]
    for row in islice(iter(table.rows), _SAMPLED_ROWS):
        for index, (cell, column) in enumerate(zip(padded(row, table.columns), table.columns)):
            widths[index] = max(widths[index], display_width(cell_text(cell, column)[:_WIDEST]) + 1)
    return [float(min(max(width, _NARROWEST), _WIDEST)) for width in widths]
