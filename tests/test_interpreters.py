"""The oldest and the newest supported Python: everything installs from source, and one command of each plugin works."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import List, Optional

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (
    ".",
    "plugins/formats",
    "plugins/att_summary",
    "plugins/att_perf",
    "plugins/att_verify",
    "plugins/nwa_precision",
)
OLDEST = ("3.9",)
NEWEST = ("3.14", "3.13")
"""The newest that is there counts."""


def _works(python: str) -> bool:
    try:
        return subprocess.run([python, "-c", "import venv, ensurepip"], capture_output=True).returncode == 0
    except OSError:
        return False


def _find(versions: tuple[str, ...]) -> Optional[str]:
    for version in versions:
        named = shutil.which(f"python{version}")
        kept = sorted(
            Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob(f"versions/{version}.*/bin/python")
        )
        for python in [*([named] if named else []), *map(str, kept)]:
            if _works(python):
                return python
    return None


def _run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    clean = {
        k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME", "PYENV_VERSION")
    }
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=clean)


def _install(python: str, place: Path) -> Path:
    """An environment with everything built from a copy of the sources, without build isolation to build once."""
    sources = place / "src"
    ignored = shutil.ignore_patterns(
        ".git", ".venv", "build", "output", "__pycache__", ".*_cache", ".hypothesis", "_skbuild"
    )
    shutil.copytree(ROOT, sources, ignore=ignored)
    assert _run(python, "-m", "venv", str(place / "env"), cwd=place).returncode == 0
    binaries = place / "env" / "bin"
    pip: List[str] = [str(binaries / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    tools = _run(*pip, "--upgrade", "pip", "scikit-build-core", "nanobind", cwd=place)
    assert tools.returncode == 0, tools.stderr
    built = _run(*pip, "--no-build-isolation", *(str(sources / package) for package in PACKAGES), cwd=sources)
    assert built.returncode == 0, built.stderr
    return binaries


@pytest.mark.parametrize("versions", [OLDEST, NEWEST], ids=["oldest", "newest"])
def test_everything_installs_and_runs(versions: tuple[str, ...], tmp_path: Path) -> None:
    python = _find(versions)
    if python is None:
        pytest.skip(f"no Python {' or '.join(versions)} on this machine")
    binaries = _install(python, tmp_path)
    autofuse = str(binaries / "autofuse")
    doctor = _run(autofuse, "doctor", "--json", cwd=tmp_path)
    findings = json.loads(doctor.stdout)["findings"]
    assert doctor.returncode == 0, findings
    native = {finding["subject"]: finding["text"] for finding in findings if "native" in finding["text"]}
    assert "line scanner" in native
    examples = tmp_path / "src" / "examples"
    summary = _run(autofuse, "run", "summary", str(examples / "runs" / "default"), "-f", "csv", cwd=tmp_path)
    assert summary.returncode == 0, summary.stderr
    assert summary.stdout.startswith("Operator,Graph,Result,Group,Case,")
    for command in ("compare", "evidence", "split-slog", "perf-formula", "verify-tiling", "precision"):
        shown = _run(autofuse, "run", command, "--help", cwd=tmp_path)
        assert shown.returncode == 0, (command, shown.stderr)
        assert command in shown.stdout
