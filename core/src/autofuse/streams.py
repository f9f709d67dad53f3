"""Keeps standard output for results: what plugin code prints while it is imported or asked for specs goes to stderr."""

from __future__ import annotations

import contextlib
import sys
from typing import Any, Iterator, TextIO, cast

__all__ = ["results_only"]


@contextlib.contextmanager
def results_only() -> Iterator[None]:
    """Diverts standard output to standard error while the block runs."""
    real = sys.stdout
    diverted = _Diverted(real)
    sys.stdout = cast(TextIO, diverted)
    try:
        yield
    finally:
        diverted.open = True
        # Code in the block may have put a stream of its own there on purpose.
        if sys.stdout is cast(TextIO, diverted):
            sys.stdout = real


class _Diverted:
    """Standard error for as long as the block runs; after it the real stream, for code that kept `sys.stdout`."""

    def __init__(self, real: TextIO) -> None:
        self.real = real
        self.open = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real if self.open else sys.stderr, name)
