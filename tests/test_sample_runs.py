"""The sample runs of examples/: what their script writes, and what the documentation says of them."""

from __future__ import annotations

import csv
import gzip
import importlib.util
import io
import sys
from pathlib import Path
from typing import Callable, Dict, List

import pytest
from autofuse.testing import Outcome

Cli = Callable[..., Outcome]

EXAMPLES = Path(__file__).parents[1] / "examples"
RUNS = EXAMPLES / "runs"
SLOWER = "autofuse_reduce_7_Mul_Sum"


def content(folder: Path) -> Dict[str, bytes]:
    """Path below the folder → bytes; those of compressed files depend on the compressor, so what they hold."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            found[str(path.relative_to(folder))] = gzip.decompress(data) if path.suffix == ".gz" else data
    return found


def rows(cli: Cli, *arguments: object) -> List[Dict[str, str]]:
    outcome = cli("run", "summary", *map(str, arguments), "-f", "csv")
    assert outcome.exit_code == 0, outcome.stderr
    return list(csv.DictReader(io.StringIO(outcome.stdout, newline="")))


def test_the_committed_runs_are_what_the_script_writes(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("make_sample_runs", EXAMPLES / "make_sample_runs.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = script
    spec.loader.exec_module(script)
    script.write_runs(tmp_path)
    assert content(tmp_path) == content(RUNS)


@pytest.mark.parametrize("run", ["default", "pgo"])
def test_they_look_like_a_real_run(autofuse_cli: Cli, run: str) -> None:
    """Twenty operators, several groups, results and shapes, sub-cases that win, a failing call, noise."""
    calls = rows(autofuse_cli, RUNS / run, "--invocations", "all")
    every = rows(autofuse_cli, RUNS / run, "--invocations", "all", "--all")
    assert len({row["Operator"] for row in calls}) == 20
    assert {row["Group"] for row in calls} >= {"0", "1"} and {row["Result"] for row in every} >= {"0", "1", "2"}
    assert any(row["Sub Case"] == "R" for row in calls)
    assert len({row["Input Shape"] for row in calls}) > 15 and any(not row["Input Shape"] for row in calls)
    assert [row["Parse Status"] for row in calls].count("tiling_failed") == 1
    assert {row["Parse Status"] for row in calls} == {"ok", "inferred_graph_result", "tiling_failed"}
    assert {row["Final Parse Status"] for row in calls} == {"", "ok"}
    text = b"".join(content(RUNS / run).values())
    assert b"FINAL_TILING_BEGIN" in text and b"[FINAL_TILING]" in text and b" RUNTIME(" in text


def test_the_gate_fails_for_the_operator_that_got_slower(autofuse_cli: Cli) -> None:
    outcome = autofuse_cli("run", "compare", RUNS / "default", RUNS / "pgo", "--fail-on-regression", "3")
    assert outcome.exit_code == 1
    base, candidate = rows(autofuse_cli, RUNS / "default"), rows(autofuse_cli, RUNS / "pgo")
    assert {slower for slower in map(regressed, base, candidate) if slower} == {SLOWER}
    assert SLOWER in outcome.stderr


def test_the_gate_passes_with_the_sides_swapped(autofuse_cli: Cli) -> None:
    outcome = autofuse_cli("run", "compare", RUNS / "pgo", RUNS / "default", "--fail-on-regression", "3")
    assert outcome.exit_code == 0


def regressed(base: Dict[str, str], candidate: Dict[str, str]) -> str:
    """The operator of the row when it is more than 3 % slower, else ""."""
    metric = "Result Perf" if base["Result Perf"] else "Objective Value"
    assert base["Operator"] == candidate["Operator"]
    return base["Operator"] if float(candidate[metric]) > 1.03 * float(base[metric]) else ""
