"""The rows of a sheet as SpreadsheetML (ECMA-376 18.3.1.73), several times faster than through openpyxl's cells.

Numbers are numbers; an integer beyond 2^53 and nan or inf are text, so that every digit and the value survive. Text
never becomes a formula: it is an inline string, and where it starts like a formula or an error it is marked as quoted.
"""

from __future__ import annotations

import math
import re
import tempfile
from dataclasses import dataclass
from typing import BinaryIO, Callable, Iterable, List, Sequence, Tuple, cast

from autofuse.report.model import Cell, Column, Number

from autofuse_formats.reporters.cells import encode, number_value, padded

__all__ = ["MAX_CHARACTERS", "RowWriter", "Styles", "clean", "number_format"]

MAX_CHARACTERS = 32_767
"""Characters of a cell; Excel's limit."""
_EXACT = 2**53
_IN_MEMORY = 4 << 20
_ROWS_PER_WRITE = 500
# Excel refuses a file that holds these.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPE_LIKE = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")
_SHORT_INTEGER = re.compile(r"-?[1-9][0-9]{0,14}|0")
_FORMULA_LIKE = frozenset("=+-@#\t\r")
_XML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})


@dataclass(frozen=True)
class Styles:
    """Style numbers of the workbook: of quoted text, and of the numbers of each column (0: general)."""

    quoted: int
    numbers: Tuple[int, ...]


class RowWriter:
    """Renders the rows of one sheet into a temporary file, from row 2 on."""

    def __init__(self, columns: Tuple[Column, ...], letters: Sequence[str], styles: Styles) -> None:
        # Beyond a few MB it is an unnamed file, gone with the process.
        self.content = cast(BinaryIO, tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY))  # noqa: SIM115
        self.last = 1
        """Number of the last row; the heading is row 1."""
        self.cut = 0
        """Texts that were longer than a cell may be."""
        self._columns = columns
        self._quoted = styles.quoted
        self._converters = [
            self._converter(letter, column, style) for letter, column, style in zip(letters, columns, styles.numbers)
        ]

    def write(self, rows: Iterable[Sequence[Cell]]) -> None:
        """Appends all the rows."""
        pending: List[str] = []
        for row in rows:
            self.last += 1
            place = str(self.last)
            cells = row if len(row) == len(self._columns) else padded(row, self._columns)
            texts = [convert(cell, place) for convert, cell in zip(self._converters, cells) if cell is not None]
            pending.append(f'<row r="{place}">{"".join(texts)}</row>')
            if len(pending) >= _ROWS_PER_WRITE:
                self.content.write(encode("".join(pending)))
                pending.clear()
        self.content.write(encode("".join(pending)))

    def _converter(self, letter: str, column: Column, style: int) -> Callable[[Cell, str], str]:
        styled = f' s="{style}"' if style else ""

        def convert(cell: Cell, place: str) -> str:
            if isinstance(cell, Number):
                if _SHORT_INTEGER.fullmatch(cell):
                    return f'<c r="{letter}{place}"><v>{cell}</v></c>'
                number = _number(number_value(cell))
                return f'<c r="{letter}{place}"><v>{number}</v></c>' if number else self._text(cell, letter, place)
            if isinstance(cell, str):
                return self._text(cell, letter, place)
            if isinstance(cell, bool):
                return f'<c r="{letter}{place}" t="b"><v>{cell:d}</v></c>'
            number = _number(cell)
            return f'<c r="{letter}{place}"{styled}><v>{number}</v></c>' if number else self._plain(cell, letter, place)

        return convert

    def _plain(self, cell: Cell, letter: str, place: str) -> str:
        return f'<c r="{letter}{place}" t="inlineStr"><is><t>{cell}</t></is></c>'

    def _text(self, text: str, letter: str, place: str) -> str:
        text = clean(text)
        if len(text) > MAX_CHARACTERS:
            self.cut += 1
            text = text[: MAX_CHARACTERS - 1] + "…"
        styled = f' s="{self._quoted}"' if text[:1] in _FORMULA_LIKE else ""
        space = ' xml:space="preserve"' if text != text.strip() else ""
        return f'<c r="{letter}{place}" t="inlineStr"{styled}><is><t{space}>{text.translate(_XML)}</t></is></c>'


def clean(text: str) -> str:
    """`text` without what a workbook cannot hold; what looks like its escapes is escaped, so that it stays as it is."""
    if not text.isprintable():
        text = _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", _FORBIDDEN.sub("", text))
    return _ESCAPE_LIKE.sub("_x005F_", text) if "_x" in text else text


def number_format(printf: str) -> str:
    """`%.8f` → `0.00000000`, `%.4e` → `0.0000E+00`; "" where Excel has no such format."""
    match = re.fullmatch(r"%\.([0-9]+)([fe])", printf)
    if not match:
        return ""
    digits = int(match[1])
    return ("0." + "0" * digits if digits else "0") + ("E+00" if match[2] == "e" else "")


def _number(value: object) -> str:
    """The number as a sheet holds it; "" when it cannot hold it exactly."""
    if isinstance(value, float):
        return float.__repr__(value) if math.isfinite(value) else ""
    if isinstance(value, int) and abs(value) <= _EXACT:
        return str(value)
    return ""
