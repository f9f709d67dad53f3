"""The test kit for plugin authors, a pytest plugin: run the command line in-process, install plugins from a dict.

def test_hello(autofuse_cli):
    result = autofuse_cli("run", "hello")
    assert result.exit_code == 0
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, Iterator, Mapping, Optional, Union

import pytest

__all__ = ["Outcome", "autofuse_cli", "install_plugin", "run_cli"]


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
        try:
            code = main([os.fspath(argument) for argument in arguments])
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 3
    return Outcome(code, out.content(), err.content().decode("utf-8", "replace"))


@pytest.fixture
def autofuse_cli() -> Callable[..., Outcome]:
    """`run_cli` as a fixture."""
    return run_cli


@pytest.fixture
def install_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Path]]:
    """Puts a distribution on sys.path: `install_plugin("acme", {"acme.py": "…"}, entry_points={"acme": "acme"})`.

    The host finds it as it finds an installed one. Gives the folder that was added.
    """
    before = set(sys.modules)

    def install(
        distribution: str,
        files: Mapping[str, str],
        entry_points: Optional[Mapping[str, str]] = None,
        version: str = "1.0",
    ) -> Path:
        folder = tmp_path / f"site-{distribution}"
        points = entry_points if entry_points is not None else {distribution: distribution}
        everything: Dict[str, str] = dict(files)
        info = f"{distribution.replace('-', '_')}-{version}.dist-info"
        everything[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
        lines = "".join(f"{name} = {value}\n" for name, value in points.items())
        everything[f"{info}/entry_points.txt"] = f"[autofuse]\n{lines}"
        for name, text in everything.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        monkeypatch.syspath_prepend(str(folder))
        return folder

    yield install
    for name in set(sys.modules) - before:
        origin = getattr(sys.modules[name], "__file__", None) or ""
        if origin.startswith(str(tmp_path)):
            del sys.modules[name]


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
