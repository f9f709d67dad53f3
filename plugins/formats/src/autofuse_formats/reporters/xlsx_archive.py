"""Saves a workbook with rows that were rendered beside it, so that equal workbooks are equal bytes.

No time of writing is in the archive or in the properties.
"""

from __future__ import annotations

import re
import shutil
import zipfile
from typing import Any, BinaryIO, Iterator, Sequence

__all__ = ["save"]

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The oldest time a zip archive can hold."""
_TIMES = re.compile(rb"<dcterms:(created|modified)\b.*?</dcterms:\1>")
_END_OF_ROWS = b"</sheetData>"


def save(workbook: Any, rows: Sequence[BinaryIO], out: BinaryIO, title: str) -> None:
    """Writes the workbook to `out`, which need not be seekable; `rows` are closed.

    The n-th sheet has its heading row from openpyxl and its further rows from the n-th file.
    """
    from openpyxl.writer.excel import ExcelWriter

    workbook.properties.creator = "autofuse"
    workbook.properties.title = title
    ExcelWriter(workbook, _Archive(out, iter(rows))).save()


class _Archive(zipfile.ZipFile):
    def __init__(self, out: BinaryIO, rows: Iterator[BinaryIO]) -> None:
        super().__init__(out, "w", zipfile.ZIP_DEFLATED, allowZip64=True, compresslevel=4)
        self._rows = rows

    def writestr(self, zinfo_or_arcname: Any, data: Any, *rest: Any, **options: Any) -> None:
        name = str(zinfo_or_arcname)
        if name == "docProps/core.xml":
            data = _TIMES.sub(b"", data if isinstance(data, bytes) else data.encode("utf-8"))
        super().writestr(_member(name), data)

    def write(self, filename: Any, arcname: Any = None, *rest: Any, **options: Any) -> None:
        """openpyxl adds each sheet through this method, in order."""
        with open(filename, "rb") as source:
            head, end, tail = source.read().partition(_END_OF_ROWS)
        with self.open(_member(str(arcname)), "w", force_zip64=True) as target:
            target.write(head)
            with next(self._rows) as rows:
                rows.seek(0)
                shutil.copyfileobj(rows, target, 1 << 20)
            target.write(end + tail)


def _member(name: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name.lstrip("/"), _EPOCH)
    member.compress_type = zipfile.ZIP_DEFLATED
    member._compresslevel = 4  # type: ignore[attr-defined]
    member.external_attr = 0o644 << 16
    return member
