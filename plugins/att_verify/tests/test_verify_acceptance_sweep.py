"""Acceptance of sweeps: failures of every kind among good points, grids over hardware, results in every format."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest
from jsonschema import Draft202012Validator
from tiling_operators import Verified, contract, needs_compiler, operator

pytestmark = needs_compiler

SCHEMA = Path(__file__).parents[1] / "src" / "autofuse_att_verify" / "schemas" / "verify-tiling.schema.json"
BAD = """
  if (s0 == 2 && s1 == 1) *(volatile int *)8 = 1;
  if (s0 == 2 && s1 == 2) for (;;) pause();
  if (s0 == 3) return -1;
  if (s0 == 4 && s1 == 1) tiling->words[6] = 1;
  if (s0 == 4 && s1 == 2) *blockDim = aiv_num + 1;
  if (s0 == 5 && s1 == 1) exit(0);
  if (s0 == 5 && s1 == 2) memset(tiling, 0, sizeof(*tiling));
  if (s0 == 6 && s1 == 1) *workspaceSize = 1;
  if (s0 == 6 && s1 == 2) for (;;) puts("all work and no play makes jack a dull boy, all work and no play");
  if (s0 == 7 && s1 == 1) fork();
  if (s0 == 7 && s1 == 2) blockDim[1] = 1;
"""
ERRORS = {
    (2, 1): "signal SIGSEGV",
    (2, 2): "timeout 1 s",
    (3, 1): "returned -1",
    (3, 2): "returned -1",
    (4, 1): "buffer overrun",
    (4, 2): "block_dim: 25 is not in 1..24 (aiv_num)",
    (5, 1): "exited with code 0",
    (5, 2): "tiling_data: is still all zero",
    (6, 1): "workspace_size: 1 bytes, less than 16777216",
    (6, 2): "endless output (more than 64 MiB)",
    (7, 1): "fork in tiling code",
    (7, 2): "buffer overrun",
}


def rows(run: Verified) -> List[Dict[str, str]]:
    with open(run.folder / "sweep.csv", encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("runner", ["native", "python"])
def test_every_failure_stays_with_its_point(verify: Callable[..., Verified], runner: str) -> None:
    spec = "s0=1:8 s1=1,2 aiv=24"
    run = verify(operator(BAD, 2), "--sweep", spec, "--timeout", "1", "--jobs", "2", "--runner", runner)
    found = {(int(row["s0"]), int(row["s1"])): row["error"] for row in rows(run)}
    assert {point: error for point, error in found.items() if error} == ERRORS
    assert len(found) == 16
    assert (run.code, run.result["status"], run.result["sweep"]["failed"]) == (1, "RUNTIME_FAILED", len(ERRORS))
    assert run.result["inputs"]["origin"] == "preset_A+--sweep"
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(run.result)


def test_a_grid_over_the_hardware(verify: Callable[..., Verified]) -> None:
    source = operator("tiling->words[0] = ub_size; *blockDim = ub_size < 200000 ? aiv_num : 1;")
    run = verify(source, "--sweep", "aiv=1,24,65535 ub=196608,262144")
    assert run.code == 0
    shown = [(row["aiv"], row["ub"], row["block_dim"]) for row in rows(run)]
    assert shown[:2] == [("1", "196608", "1"), ("1", "262144", "1")]
    assert shown[4:] == [("65535", "196608", "65535"), ("65535", "262144", "1")]
    assert "block_dim by aiv and ub" in (run.folder / "sweep_heatmap.svg").read_text()


@pytest.mark.parametrize(
    ("name", "text"),
    [("jsonl", '"block_dim": 2'), ("md", "| 3 |"), ("html", "block_dim by s0 and s1"), ("svg", "<svg")],
)
def test_every_format_and_its_picture(verify: Callable[..., Verified], name: str, text: str) -> None:
    run = verify(operator(symbols=2), "--sweep", "s0=1:3 s1=1:2", "-f", name)
    content = (run.folder / f"sweep.{name}").read_text(encoding="utf-8")
    assert (run.code, text in content) == (0, True)
    assert (run.folder / "sweep_heatmap.svg").exists() == (name != "svg")


def test_a_picture_of_an_earlier_sweep_is_not_left_beside_another_table(verify: Callable[..., Verified]) -> None:
    source = operator(symbols=2)
    assert (verify(source, "--sweep", "s0=1:3 s1=1:2").folder / "sweep_heatmap.svg").exists()
    run = verify(source, "--sweep", "s0=1:3 s1=1")
    assert {path.name for path in run.folder.iterdir()} == {"result.json", "sweep.csv"}


def test_results_of_every_end_keep_to_the_schema(verify: Callable[..., Verified]) -> None:
    validator = Draft202012Validator(json.loads(SCHEMA.read_text()))
    bodies: Dict[str, Any] = {"": "SUCCEEDED", "return -1;": "RUNTIME_FAILED", "int x = ;": "COMPILE_FAILED"}
    for body, status in bodies.items():
        run = verify(operator(body, 1), inputs=contract([1]))
        assert run.result["status"] == status
        validator.validate(run.result)
