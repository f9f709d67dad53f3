"""The test kit for plugin authors, a pytest plugin: run the command line in-process, install plugins from a dict.

def test_hello(autofuse_cli):
    result = autofuse_cli("run", "hello")
    assert result.exit_code == 0
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Callable, Dict, Iterator, Mapping, Optional, Sequence

import pytest

from autofuse.inprocess import Outcome, run_cli

if TYPE_CHECKING:
    from autofuse.scan.lines import LineBatch

__all__ = ["Outcome", "autofuse_cli", "batch_of", "install_plugin", "run_cli"]


def batch_of(lines: Sequence[bytes], markers: Sequence[bytes], path: str = "sample.log") -> LineBatch:
    """The batch that the scanner gives for these lines, for tests of a record parser."""
    from autofuse.conformance import parsers

    return parsers.batch_of(lines, markers, path)


@pytest.fixture
def autofuse_cli() -> Callable[..., Outcome]:
    """`run_cli` as a fixture."""
    return run_cli


@pytest.fixture
def install_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Path]]:
    """Puts a distribution on sys.path: `install_plugin("acme", {"acme.py": "…"}, entry_points={"acme": "acme"})`.

    The host finds it as it finds an installed one. Gives the folder that was added. `metadata` replaces the text of the
    file METADATA.
    """
    before = set(sys.modules)

    def install(
        distribution: str,
        files: Mapping[str, str],
        entry_points: Optional[Mapping[str, str]] = None,
        version: str = "1.0",
        metadata: Optional[str] = None,
    ) -> Path:
        folder = tmp_path / f"site-{distribution}"
        points = entry_points if entry_points is not None else {distribution: distribution}
        everything: Dict[str, str] = dict(files)
        info = f"{distribution.replace('-', '_')}-{version}.dist-info"
        plain = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
        everything[f"{info}/METADATA"] = plain if metadata is None else metadata
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
