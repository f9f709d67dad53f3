"""Runs the command line in this process with captured streams, for tests and for the conformance kit."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from dataclasses import dataclass
from typing import Iterator, Union

__all__ = ["Outcome", "run_cli"]


@dataclass(frozen=True)
class Outcome:
    """What one run of the command line did."""

    exit_code: int
    stdout_bytes: bytes
    stderr: str

    @property
    def stdout(self) -> str:
        """Standard output as text."""
        return self.stdout_bytes.decode("utf-8", "replace")


def run_cli(*arguments: Union[str, os.PathLike[str]], stdin: bytes = b"") -> Outcome:
    """Runs `autofuse ARGUMENTS…` in this process with captured streams; nothing is a terminal."""
    from autofuse.cli.main import main

    out, err = _Stream(), _Stream()
    with _replaced(stdin=_Stream(stdin), stdout=out, stderr=err):
        code = main([os.fspath(argument) for argument in arguments])
    return Outcome(code, out.content(), err.content().decode("utf-8", "replace"))


class _Stream(io.TextIOWrapper):
    """A text stream over bytes in memory that stays readable after the code under test closed or detached it."""

    def __init__(self, content: bytes = b"") -> None:
        self.memory = io.BytesIO(content)
        super().__init__(self.memory, encoding="utf-8", errors="backslashreplace", newline="", write_through=True)

    def content(self) -> bytes:
        """All bytes written so far."""
        with contextlib.suppress(ValueError):
            self.flush()
        return self.memory.getvalue()

    def close(self) -> None:
        """Flushes only: the test still reads the content."""
        with contextlib.suppress(ValueError):
            self.flush()


@contextlib.contextmanager
def _replaced(**streams: _Stream) -> Iterator[None]:
    saved = {name: getattr(sys, name) for name in streams}
    for name, stream in streams.items():
        setattr(sys, name, stream)
    try:
        yield
    finally:
        for name, stream in saved.items():
            setattr(sys, name, stream)
