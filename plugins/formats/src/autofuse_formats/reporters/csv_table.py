"""csv: the main table, RFC 4180 quoting, `\\n` line ends, a BOM in files so that spreadsheets read UTF-8.

Numbers stand as logged. A text that a spreadsheet would run as a formula is guarded by an apostrophe without loss, see
`autofuse.report.formulas`; names that the compiler makes are never touched.
"""

from __future__ import annotations

import csv
from typing import BinaryIO, Callable, List, Tuple

from autofuse.report.formulas import FORMULA_STARTS, guarded
from autofuse.report.model import Cell, Column, Report, ReportContext

from autofuse_formats.reporters.cells import cell_text, encode, padded
from autofuse_formats.reporters.visible import visible

__all__ = ["write"]

_BOM = b"\xef\xbb\xbf"


def write(report: Report, out: BinaryIO, context: ReportContext) -> None:
    """Writes the main table; on a terminal control characters are made visible, elsewhere the cells are exact."""
    if context.to_file:
        out.write(_BOM)
    if not report.tables:
        return
    table = report.tables[0]
    lines = _Lines(out, visible if context.width is not None else str)
    # Only with this line end are cells with a lone \r quoted by every version of Python; `_Lines` makes it \n.
    writer = csv.writer(lines, lineterminator="\r\n")
    writer.writerow([guarded(column.name) for column in table.columns])
    convert = _converter(table.columns)
    for row in table.rows:
        writer.writerow(convert(list(row)))
    lines.flush()


def _converter(columns: Tuple[Column, ...]) -> Callable[[List[Cell]], List[str]]:
    def convert(row: List[Cell]) -> List[str]:
        if len(row) != len(columns):
            row = padded(row, columns)
        return [
            "" if cell is None
            else (cell if cell[:1] not in FORMULA_STARTS else guarded(cell)) if isinstance(cell, str)
            else cell_text(cell, column)
            for cell, column in zip(row, columns)
        ]  # fmt: skip

    return convert


class _Lines:
    """Takes one row per call from csv.writer, ends it with `\\n` and writes in large pieces."""

    def __init__(self, out: BinaryIO, clean: Callable[[str], str]) -> None:
        self._out = out
        self._clean = clean
        self._lines: List[str] = []

    def write(self, line: str) -> None:
        self._lines.append(self._clean(line[:-2]))
        if len(self._lines) >= 1000:
            self.flush()

    def flush(self) -> None:
        if self._lines:
            self._out.write(encode("\n".join(self._lines) + "\n"))
            self._lines.clear()
