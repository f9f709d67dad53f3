"""What a start does not import. The time it takes is measured by benchmarks/bench_startup.py, not asserted."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    "numpy",
    "openpyxl",
    "rich",
    "jinja2",
    "ml_dtypes",
    "google",
    "importlib.metadata",
    "email",
    "asyncio",
    "multiprocessing",
    "tomllib",
    "autofuse.records",
    "autofuse.declarative",
    "autofuse.scan.scanner",
}
SCRIPT = """
import sys
before = set(sys.modules)
from autofuse.cli.main import main
code = main({words!r})
print(*sorted(set(sys.modules) - before), sep="\\n", file=sys.stderr)
sys.exit(code)
"""


def imported(*words: str) -> set[str]:
    """The modules that a run in a fresh interpreter imports; the config of the machine is left out."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", SCRIPT.format(words=list(words))],
        env={"XDG_CONFIG_HOME": "/no/such/folder"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout
    return set(done.stderr.splitlines())


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["run", "--help"], ["run", "-h"]])
def test_help_imports_nothing_heavy(words):
    assert imported(*words) & HEAVY == set()


@pytest.mark.parametrize("words", [["--help"], ["--version"]])
def test_the_tools_own_help_does_not_even_look_for_plugins(words):
    assert imported(*words) & {"autofuse.host", "autofuse.config", "pluggy"} == set()


def test_help_of_run_imports_no_command():
    """Of each plugin the module with its specs, and the package it stands in."""
    packages = {"autofuse_formats", "autofuse_att_summary", "autofuse_att_perf", "autofuse_att_verify"}
    packages |= {"autofuse_nwa_precision", "autofuse_acme"}
    found = {name for name in imported("run", "--help") if name.partition(".")[0] in packages}
    assert found <= packages | {f"{package}.plugin" for package in packages}
