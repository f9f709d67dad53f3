"""Fixtures of the tests of verify-tiling."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Callable, List, Mapping, Optional

import pytest
from autofuse.testing import run_cli

sys.path.insert(0, str(Path(__file__).parent))

from tiling_operators import EXAMPLES, Verified, contract, users_of


@pytest.fixture
def tiling_files(tmp_path: Path) -> Callable[..., Path]:
    """Writes a dict of files into a new source folder."""

    def write(files: Mapping[str, Any], name: str = "source") -> Path:
        folder = tmp_path / name
        for relative, content in files.items():
            path = folder / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                path.write_bytes(content)
            else:
                path.write_text(content, encoding="utf-8")
        return folder

    return write


@pytest.fixture
def verify(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiling_files: Callable[..., Path]
) -> Callable[..., Verified]:
    """`verify(files_or_folder, *options, inputs=contract)`: runs the command and looks for what it leaves."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ASCEND_HOME_PATH", raising=False)

    def run(source: Any, *options: Any, inputs: Optional[Mapping[str, Any]] = None) -> Verified:
        folder = tiling_files(source) if isinstance(source, Mapping) else source
        words: List[Any] = ["run", "verify-tiling", folder, "-o", tmp_path / "out"]
        if inputs is not None:
            path = tmp_path / "inputs.json"
            path.write_text(json.dumps(inputs), encoding="utf-8")
            words += ["--input-json", path]
        outcome = run_cli(*words, *map(str, options))
        assert not list(temporary.iterdir()), "a temporary folder is left"
        assert not users_of(temporary), "a process is left"
        return Verified(outcome, tmp_path / "out")

    return run


@pytest.fixture(scope="session")
def two_groups(tmp_path_factory: pytest.TempPathFactory) -> Verified:
    """One run of the newest sample on 8 x 20000, where the second result with its two groups wins."""
    folder = tmp_path_factory.mktemp("two_groups")
    (folder / "inputs.json").write_text(json.dumps(contract([8, 20000])))
    words = ["run", "verify-tiling", EXAMPLES / "mul_sum_dyn", "--input-json", folder / "inputs.json"]
    outcome = run_cli(*words, "--toolkit", "shim", "-o", folder / "out")
    return Verified(outcome, folder / "out")
