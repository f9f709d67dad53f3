"""Makes the helper modules beside the tests importable (pytest's importlib mode does not); runs perf-formula."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def perf(autofuse_cli, tmp_path):
    """perf(sources, log, *options) → outcome with `.tables`, every table as a list of rows."""

    def run(sources, log, *options):
        folder = tmp_path / "src"
        folder.mkdir(exist_ok=True)
        for name, text in sources.items() if isinstance(sources, dict) else [("x_tiling_func.cpp", sources)]:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        (tmp_path / "a.log").write_text(log, encoding="utf-8")
        out = tmp_path / "out"
        outcome = autofuse_cli("run", "perf-formula", folder, tmp_path / "a.log", "-f", "jsonl", "-o", out, *options)
        tables = {
            path.stem: [json.loads(line) for line in path.read_text("utf-8").splitlines()]
            for path in (out.iterdir() if out.is_dir() else ())
        }
        return SimpleNamespace(exit_code=outcome.exit_code, stderr=outcome.stderr, tables=tables)

    return run
