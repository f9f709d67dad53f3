"""The text of a cell and the heading of a column, the same in every text format; each shows a gap its own way."""

from __future__ import annotations

import math
import re
from typing import Iterable, List, Sequence, Tuple, Union

from autofuse.report.model import Cell, Column, Number

__all__ = ["cell_text", "encode", "heading", "is_number", "number_value"]

_LONGEST_INTEGER = 4000
_INTEGER = re.compile(r"[-+]?[0-9]+")


def cell_text(cell: Cell, column: Column) -> str:
    """A number as logged, another number by the column's format or shortest exact, a text as it is, None as ""."""
    if isinstance(cell, str):
        return cell
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if column.format and math.isfinite(cell):
        return column.format % cell
    # Subclasses (numpy's float64) have a repr of their own.
    return float.__repr__(cell) if isinstance(cell, float) else str(cell)


def heading(column: Column, lang: str) -> str:
    """The heading of a column for human eyes."""
    return (lang == "zh" and column.label_zh) or column.name


def is_number(cell: Cell) -> bool:
    """Whether the cell holds a number rather than text, a truth value or nothing."""
    return isinstance(cell, (Number, float)) or (isinstance(cell, int) and not isinstance(cell, bool))


def number_value(cell: Union[int, float, Number]) -> Union[int, float, str]:
    """What a program computes with: an integer, a float, or the text where it is no number or an endless integer."""
    if not isinstance(cell, Number):
        return cell
    try:
        if not _INTEGER.fullmatch(cell):
            return float(cell)
        # Python refuses to convert integers of thousands of digits; their text is exact all the same.
        return int(cell) if len(cell) <= _LONGEST_INTEGER else str(cell)
    except ValueError:
        return str(cell)


def encode(text: str) -> bytes:
    """UTF-8; a surrogate without a partner (an undecodable byte of a file name) becomes its escape."""
    return text.encode("utf-8", "backslashreplace")


def padded(row: Sequence[Cell], columns: Tuple[Column, ...]) -> List[Cell]:
    """The cells of the row, one per column."""
    cells = list(row[: len(columns)])
    return cells + [None] * (len(columns) - len(cells))


def in_chunks(lines: Iterable[str], size: int = 2000) -> Iterable[bytes]:
    """The lines with their ends, encoded and joined to writes of a sensible size."""
    chunk: List[str] = []
    for line in lines:
        chunk.append(line)
        if len(chunk) >= size:
            yield encode("\n".join(chunk) + "\n")
            chunk.clear()
    if chunk:
        yield encode("\n".join(chunk) + "\n")
