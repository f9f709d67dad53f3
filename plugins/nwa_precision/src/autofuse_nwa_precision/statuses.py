"""The statuses of a compared or skipped row, and the exception that carries one from where it is found to the row."""

from __future__ import annotations

from typing import Iterable

__all__ = ["NOT_COUNTED", "SKIPPED", "RowError", "joined"]

OK = "OK"
OK_EMPTY = "OK_EMPTY"
FORMAT_CONVERTED = "FORMAT_CONVERTED"
DTYPE_CAST = "DTYPE_CAST"
SHAPE_FLATTENED = "SHAPE_FLATTENED"
NAN_MISMATCH = "NAN_MISMATCH"
INF_MISMATCH = "INF_MISMATCH"

FILE_NOT_FOUND = "FILE_NOT_FOUND"
NPY_LOAD_ERROR = "NPY_LOAD_ERROR"
FORMAT_UNSUPPORTED = "FORMAT_UNSUPPORTED"
FORMAT_CONVERSION_ERROR = "FORMAT_CONVERSION_ERROR"
FORMAT_AMBIGUOUS = "FORMAT_AMBIGUOUS"
SHAPE_MISMATCH = "SHAPE_MISMATCH"
SKIPPED_CONST_DATA = "SKIPPED_CONST_DATA"
NO_MAPPING = "NO_MAPPING"
COMPUTE_ERROR = "COMPUTE_ERROR"
NO_DATA = "NO_DATA"
TRUNCATED = "TRUNCATED"
AMBIGUOUS_NAME = "AMBIGUOUS_NAME"

SKIPPED = frozenset(
    {
        FILE_NOT_FOUND,
        NPY_LOAD_ERROR,
        FORMAT_UNSUPPORTED,
        FORMAT_CONVERSION_ERROR,
        FORMAT_AMBIGUOUS,
        SHAPE_MISMATCH,
        SKIPPED_CONST_DATA,
        NO_MAPPING,
        COMPUTE_ERROR,
        NO_DATA,
        TRUNCATED,
        AMBIGUOUS_NAME,
    }
)
"""Statuses of rows that were not compared."""

NOT_COUNTED = frozenset({SKIPPED_CONST_DATA, NO_MAPPING})
"""Skipped statuses that do not fail the run: there is nothing to compare."""

_ORDER = (FORMAT_CONVERTED, DTYPE_CAST, SHAPE_FLATTENED, NAN_MISMATCH, INF_MISMATCH)


class RowError(Exception):
    """The row cannot be compared: its status and the reason, in one sentence."""

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(f"{status}: {reason}")
        self.status = status
        self.reason = reason


def joined(parts: Iterable[str]) -> str:
    """The status of a compared row: what was done to the tensors, then what does not match, joined with `_`."""
    found = set(parts)
    return "_".join(part for part in _ORDER if part in found) or OK
