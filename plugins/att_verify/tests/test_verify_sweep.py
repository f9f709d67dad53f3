"""Sweeps: the language of the points, one row each, failures alone, the heat map."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest
from autofuse.errors import AutofuseError
from autofuse_att_verify.contract import Abi, Contract
from autofuse_att_verify.sweep_spec import read_spec
from tiling_operators import EXAMPLES, Verified, contract, needs_compiler, operator

STATIC = Contract((), 48, 196608, Abi("tf_static", 0), "test")
DYNAMIC = Contract((4, 5), 48, 196608, Abi("tf_dynamic", 2), "test")
INDUCTOR = Contract((4, 5), 48, 196608, Abi("inductor", 2), "test")


def _rows(run: Verified, name: str = "sweep.csv") -> List[Dict[str, str]]:
    with open(run.folder / name, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_the_points_of_a_spec() -> None:
    plan = read_spec("s0=64:4096:*2 s1=1,7,512 aiv=24,48 ub=196608", ("s0", "s1"), DYNAMIC)
    assert [axis.values for axis in plan.axes] == [
        (64, 128, 256, 512, 1024, 2048, 4096),
        (1, 7, 512),
        (24, 48),
        (196608,),
    ]
    points = list(plan.points())
    assert (plan.count, len(points), points[0], points[1]) == (42, 42, (64, 1, 24, 196608), (64, 1, 48, 196608))
    assert list(plan.packed()[:10]) == [64, 1, 24, 196608, 0, 64, 1, 48, 196608, 0]
    assert not plan.passes_limit


def test_steps_and_what_is_not_named() -> None:
    plan = read_spec("s1=3:10:+3,10:12,3,5:9:2", ("s0", "s1"), DYNAMIC)
    assert plan.axes[0].values == (4,)
    assert plan.axes[1].values == (3, 6, 9, 10, 11, 12, 5, 7)


def test_a_limit_is_passed_to_inductor_code_when_aiv_is_swept() -> None:
    assert not read_spec("s0=1,2", ("s0", "s1"), INDUCTOR).passes_limit
    assert read_spec("aiv=1,2", ("s0", "s1"), INDUCTOR).passes_limit


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "names nothing to vary"),
        ("s0", "'s0' is no NAME=VALUES"),
        ("=5", "'=5' is no NAME=VALUES"),
        ("s7=5", "unknown name 's7' (names: s0, s1, aiv, ub)"),
        ("s0=1 s0=2", "s0 is given twice"),
        ("s0=", "s0='' is neither a number nor a range"),
        ("s0=1,,2", "s0='' is neither"),
        ("s0=-1", "s0='-1' is neither"),
        ("s0=1.5", "s0='1.5' is neither"),
        ("s0=0", "s0=0 is out of range (accepted: 1 to 2147483647)"),
        ("s0=2147483648", "out of range"),
        ("aiv=65536", "aiv=65536 is out of range (accepted: 1 to 65535)"),
        ("s0=9:1", "the range ends before it begins"),
        ("s0=1:9:0", "a step of 0 never ends"),
        ("s0=1:9:*1", "a factor of 2 at least"),
        ("s0=0:9:*2", "a start of 1"),
        ("s0=1:2147483647", "more than 2000000 values"),
        ("s0=1:2000 s1=1:2000", "4000000 points (at most 2000000)"),
    ],
)
def test_a_bad_spec_is_told(spec: str, message: str) -> None:
    with pytest.raises(AutofuseError) as caught:
        read_spec(spec, ("s0", "s1"), DYNAMIC)
    assert message in str(caught.value)


def test_a_static_operator_sweeps_its_hardware() -> None:
    assert read_spec("aiv=1:48", (), STATIC).count == 48


@needs_compiler
@pytest.mark.parametrize("runner", ["native", "python"])
def test_a_bad_point_fails_alone(verify: Callable[..., Verified], runner: str) -> None:
    body = """switch (s0) { case 3: abort(); case 5: for (;;) pause(); case 7: return -1;
              case 11: *blockDim = 60; break; case 13: tiling->words[6] = 1; break; }
              tiling->s0 = s0;"""
    options = ("--sweep", "s0=1:40", "--timeout", "0.5", "--jobs", "2", "--runner", runner)
    run = verify(operator(body, 1), *options, inputs=contract([1]))
    errors = {int(row["s0"]): row["error"] for row in _rows(run) if row["status"] == "failed"}
    assert errors == {
        3: "signal SIGABRT",
        5: "timeout 0.5 s",
        7: "returned -1",
        11: "block_dim: 60 is not in 1..48 (aiv_num)",
        13: "buffer overrun",
    }
    assert [int(row["s0"]) for row in _rows(run)] == list(range(1, 41))
    assert all(row["block_dim"] == "2" for row in _rows(run) if row["status"] == "ok")
    summary = run.result["sweep"]
    assert (run.code, run.result["status"], summary["points"], summary["failed"]) == (1, "RUNTIME_FAILED", 40, 5)
    assert run.result["error"] == "5 of 40 points failed, the first at s0=3 aiv=48 ub=196608: signal SIGABRT"
    assert summary["failures"][0] == {"s0": 3, "aiv": 48, "ub": 196608, "error": "signal SIGABRT"}


@needs_compiler
def test_a_library_that_cannot_be_loaded_fails_every_point(verify: Callable[..., Verified]) -> None:
    run = verify(operator(extra="static int x = (abort(), 1);"), "--sweep", "aiv=1:3")
    assert (run.code, run.result["error"]) == (1, "signal SIGABRT")
    assert [row["error"] for row in _rows(run)] == ["signal SIGABRT"] * 3


@needs_compiler
def test_code_that_does_not_compile_has_no_table(verify: Callable[..., Verified]) -> None:
    run = verify(operator("int x = ;"), "--sweep", "aiv=1:3")
    assert (run.code, run.result["status"]) == (1, "COMPILE_FAILED")
    assert not (run.folder / "sweep.csv").exists()
    assert "op_tiling_func.cpp:14: expected " in run.stderr


@needs_compiler
@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="installed without the examples")
def test_rows_say_what_each_point_chose(verify: Callable[..., Verified]) -> None:
    """Each shape of the newest sample has its own winner; the pipes of two groups add up."""
    spec = "s0=8,512,1024,4096 s1=33,512,20000,100000"
    run = verify(EXAMPLES / "mul_sum_dyn", "--sweep", spec, inputs=contract([1, 1]))
    rows = {(int(row["s0"]), int(row["s1"])): row for row in _rows(run)}
    assert run.code == 0
    assert rows[512, 100000]["case"] == "graph0_result0_g0_R0"
    assert rows[4096, 33]["case"] == "graph0_result0_g0_1"
    assert rows[1024, 512]["case"] == "graph0_result0_g0_0"
    both = rows[8, 20000]
    assert both["case"] == "graph0_result1_g0_0;graph0_result1_g1_0"
    assert float(both["objective"]) > float(both["AIV_MTE2"]) > 0
    assert len(rows) == 16
    assert "16 points, 0 failed" in run.stderr


@needs_compiler
def test_two_varying_inputs_make_a_heat_map(verify: Callable[..., Verified]) -> None:
    source = operator("tiling->s0 = s0; *blockDim = 1 + s0 % 40;", 2)
    run = verify(source, "--sweep", "s0=1:3 s1=1:5", inputs=contract([1, 1]))
    picture = (run.folder / "sweep_heatmap.svg").read_text(encoding="utf-8")
    assert "block_dim by s0 and s1" in picture
    assert "block_dim" in run.outcome.stdout  # the console has a summary
    (run.folder / "sweep_heatmap.svg").unlink()
    run = verify(source, "--sweep", "s0=1:3", "-f", "jsonl", inputs=contract([1, 1]))
    lines = [json.loads(line) for line in (run.folder / "sweep.jsonl").read_text().splitlines()]
    assert [line["s0"] for line in lines if "s0" in line] == [1, 2, 3]
    assert not (run.folder / "sweep_heatmap.svg").exists()


@needs_compiler
def test_a_large_heat_map_is_thinned(verify: Callable[..., Verified]) -> None:
    run = verify(operator(symbols=2), "--sweep", "s0=1:100 s1=1:100", "-f", "html", inputs=contract([1, 1]))
    page = (run.folder / "sweep.html").read_text(encoding="utf-8")
    assert "64 x 64 of 100 x 100 points are shown" in page
    assert run.result["sweep"]["points"] == 10000


@needs_compiler
@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="installed without the examples")
def test_inductor_points_are_measured_by_their_own_limit(verify: Callable[..., Verified]) -> None:
    options: Any = ("--sweep", "aiv=1,5,48", "-f", "csv")
    run = verify(EXAMPLES / "gelu_inductor", *options, inputs=contract([1024, 512], "inductor"))
    assert (run.code, run.result["res_limit_passed"]) == (0, True)
    assert all(int(row["block_dim"]) <= int(row["aiv"]) for row in _rows(run))


def test_an_unwritable_folder_ends_before_the_compiler(verify: Callable[..., Verified], tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    run = verify(operator(), "--sweep", "aiv=1:3")
    assert (run.code, "is a file, not a folder" in run.stderr) == (2, True)
