"""jsonl: one strict JSON object per row of the main table, UTF-8, keys in the order of the columns.

Integers keep every digit; nan and the infinities are the strings "NaN", "Infinity" and "-Infinity"; what is missing is
null.
"""

from __future__ import annotations

import json
import math
import re
from typing import BinaryIO, Iterator, Sequence, Tuple

from autofuse.report.model import Cell, Column, Number, Report, ReportContext, Table

from autofuse_formats.reporters.cells import in_chunks, number_value, padded

__all__ = ["json_value", "write"]

_quoted = json.JSONEncoder(ensure_ascii=False).encode
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
# JSON allows them raw, terminals and JavaScript do not take them for text. The escape is the same string.
_ESCAPED = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


def write(report: Report, out: BinaryIO, context: ReportContext) -> None:
    """Writes the main table."""
    if report.tables:
        for chunk in in_chunks(_objects(report.tables[0])):
            out.write(chunk)


def json_value(cell: Cell) -> str:
    """The cell as strict JSON."""
    if cell is None:
        return "null"
    if isinstance(cell, Number):
        if _INTEGER.fullmatch(cell):
            return str(cell)
        cell = number_value(cell)
    if isinstance(cell, str):
        return _text(cell)
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return _float(cell)
    return str(cell)


def _objects(table: Table) -> Iterator[str]:
    keys = _keys(table.columns)
    for row in table.rows:
        cells: Sequence[Cell] = row if len(row) == len(keys) else padded(row, table.columns)
        yield "{" + ", ".join([key + json_value(cell) for key, cell in zip(keys, cells)]) + "}"


def _keys(columns: Tuple[Column, ...]) -> Tuple[str, ...]:
    return tuple(f"{_text(column.key or column.name)}: " for column in columns)


def _text(text: str) -> str:
    quoted = _quoted(text)
    return quoted if quoted.isascii() and "\x7f" not in quoted else _ESCAPED.sub(_escape, quoted)


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"


def _float(value: float) -> str:
    if math.isfinite(value):
        return float.__repr__(value)
    return '"NaN"' if math.isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'
