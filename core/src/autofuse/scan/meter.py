"""Counts newlines and bytes that are not UTF-8 over a stream given in pieces, so that a report can say what was lost.

Sequences cut by the end of a piece are counted once and rightly. Replacing the bytes is left to who decodes a line.
"""

from __future__ import annotations

import codecs
from typing import Any, Optional, Protocol

from autofuse.scan.scanner import Buffer, native_module

__all__ = ["Meter", "StdlibMeter", "new_meter"]


class Meter(Protocol):
    """One stream's counter."""

    undecodable: int
    """Bytes so far that belong to no well-formed UTF-8 sequence (RFC 3629); final after `finish`."""

    def feed(self, block: Buffer, start: int, end: int) -> int:
        """Takes the next bytes of the stream, `block[start:end]`; returns the number of newlines among them."""

    def finish(self) -> None:
        """Ends the stream: a sequence that is still open is undecodable."""


def new_meter(engine: str) -> Meter:
    """A counter of the engine that `Scanner.engine` names."""
    native: Optional[Any] = native_module() if engine.startswith("native") else None
    if native is not None:
        meter: Meter = native.Meter()
        return meter
    return StdlibMeter()


class StdlibMeter:
    """The twin of the native counter."""

    def __init__(self) -> None:
        # "ignore" drops exactly the bytes of no well-formed sequence: what is missing afterwards is the count.
        self._decoder = codecs.getincrementaldecoder("utf-8")("ignore")
        self._fed = 0
        self._decoded = 0
        self.undecodable = 0

    def feed(self, block: Buffer, start: int, end: int) -> int:
        piece = bytes(memoryview(block)[start:end])
        self._fed += len(piece)
        self._decoded += self._measure(piece)
        return piece.count(b"\n")

    def finish(self) -> None:
        self._decoded += len(self._decoder.decode(b"", True).encode())
        self.undecodable = self._fed - self._decoded

    def _measure(self, piece: bytes) -> int:
        if piece.isascii() and not self._decoder.getstate()[0]:
            return len(piece)
        return len(self._decoder.decode(piece).encode())
