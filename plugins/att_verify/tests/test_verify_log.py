"""--log: the inputs of a run taken from a call that a log shows, and its result compared with what the log says."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import pytest
from tiling_operators import EXAMPLES, Verified, contract, needs_compiler, operator

pytest.importorskip("autofuse_att_summary")
pytestmark = [needs_compiler, pytest.mark.skipif(not EXAMPLES.is_dir(), reason="installed without the examples")]

HEAD = "[INFO] GE(7,op):2026-01-01-00:00:00.000.000 [a.cpp:1]7 GetTiling:"


def _call(name: str, shape: str = "", values: str = "", cores: int = 48, chosen: str = "0") -> str:
    lines = [
        "Start GetTiling.",
        f"Set input params for tiling case 0 of AscGraph0ScheduleResult0G0. {shape}",
        f"Set hardware params. ub_size = 196608. block_dim = {cores}.",
        *(f"[PROF]The value of {value} in graph0_result0_g0_{chosen}." for value in values.split(",") if value),
        f"[PROF]Among the templates, tiling case {chosen} of graph0_result0_g0 is the best choice.",
        "End GetTiling.",
    ]
    return "".join(f"{HEAD}[{name}]{line}\n" for line in lines)


def test_a_run_is_repeated_from_its_own_log(verify: Callable[..., Verified]) -> None:
    """The round trip: run, log, run again with nothing but the log, and everything agrees."""
    first = verify(EXAMPLES / "gelu_inductor", "--aiv-num", "40", inputs=contract([333, 77], "inductor"))
    log = first.folder.parent / "first.log"
    log.write_bytes((first.folder / "att.log").read_bytes())
    result = first.result
    again = verify(EXAMPLES / "gelu_inductor", "--log", log, "--aiv-num", "40")
    assert again.code == 0, again.stderr
    assert again.result["inputs"]["dynamic_dims"] == [333, 77]
    assert again.result["inputs"]["origin"] == f"log:{log}+--aiv-num"
    assert again.result["tiling_data"] == result["tiling_data"]
    assert (again.result["case"], again.result["log"]) == ("graph0_result0_g0_0", str(log))
    assert [again.check(name) for name in ("log_case", "log_block_dim", "log_tiling_values")] == [True, True, True]


def test_two_groups_agree_with_their_log(verify: Callable[..., Verified], two_groups: Verified, tmp_path: Path) -> None:
    log = tmp_path / "two.log"
    text = (two_groups.folder / "att.log").read_text()
    log.write_text(text.replace("The value of At_size is 8", "The value of At_size is 9"))
    again = verify(EXAMPLES / "mul_sum_dyn", "--log", log)
    assert again.result["inputs"] == {
        "dynamic_dims": [8, 20000],
        "aiv_num": 48,
        "ub_size": 196608,
        "origin": f"log:{log}",
    }
    assert (again.code, again.check("log_case"), again.check("log_block_dim")) == (1, True, True)
    details = {check["name"]: check["detail"] for check in again.result["checks"]}
    assert details["log_tiling_values"].endswith("values compared; differing: At_size 8 (log 9)")


SYMBOLS = "s0 = 4. s1 = 5."


def test_what_differs_from_the_log_fails_its_check(verify: Callable[..., Verified], tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(_call("Op", SYMBOLS, "block_dim is 3,s0 is 6"))
    run = verify(operator("tiling->s0 = s0;", 2), "--log", log)
    assert run.result["inputs"]["dynamic_dims"] == [4, 5]
    assert run.code == 1
    assert (run.check("log_block_dim"), run.check("log_tiling_values"), run.check("log_case")) == (False, False, None)


def test_explicit_inputs_win(verify: Callable[..., Verified], tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(_call("Op", SYMBOLS, cores=20))
    run = verify(operator(symbols=2), "--log", log, inputs=contract([7, 8]))
    assert run.result["inputs"]["dynamic_dims"] == [7, 8]
    run = verify(operator(symbols=2), "--log", log, "--aiv-num", "30")
    assert (run.result["inputs"]["dynamic_dims"], run.result["inputs"]["aiv_num"]) == ([4, 5], 30)


def test_the_call_is_the_last_one_that_chose_the_case(verify: Callable[..., Verified], tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    failed = _call("Op", "s0 = 9. s1 = 9.").replace("[PROF]Among the templates", "Nothing")
    log.write_text(_call("Op", SYMBOLS, chosen="R1") + _call("Op", "s0 = 6. s1 = 7.") + failed)
    assert verify(operator(symbols=2), "--log", log).result["inputs"]["dynamic_dims"] == [6, 7]
    run = verify(operator(symbols=2), "--log", log, "--case", "c=R1")
    assert (run.result["inputs"]["dynamic_dims"], run.result["case"]) == ([4, 5], "c=R1")
    run = verify(operator(symbols=2), "--log", log, "--case", "c=5")
    assert (run.code, "has no call of 'Op' that chose c=5" in run.stderr) == (2, True)


BAD: Any = {
    "no log": ("nothing of interest\n", "holds no tiling call"),
    "another number": (_call("Op", "s0 = 4."), "says nothing of s1"),
    "zero": (_call("Op", "s0 = 0. s1 = 5."), "dynamic_dims[0] is 0"),
    "no number": (_call("Op", "s0 = x. s1 = 5."), "s0"),
    "several": (_call("One", SYMBOLS) + _call("Two", SYMBOLS), "holds 2 operators, and SOURCE_DIR names none of them"),
}


def test_a_log_that_is_not_there(verify: Callable[..., Verified]) -> None:
    run = verify(operator(), "--log", "/nonexistent.log")
    assert (run.code, "/nonexistent.log" in run.stderr) == (2, True)


@pytest.mark.parametrize("name", BAD)
def test_logs_that_do_not_help(verify: Callable[..., Verified], tmp_path: Path, name: str) -> None:
    text, message = BAD[name]
    log = tmp_path / "a.log"
    log.write_text(text)
    run = verify(operator(symbols=2), "--log", log)
    assert (run.code, message in run.stderr) == (2, True), run.stderr


def test_the_operator_that_the_sources_name(verify: Callable[..., Verified], tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(_call("Add", SYMBOLS) + _call("Add_Relu", "s0 = 6. s1 = 7."))
    source = operator(symbols=2, extra='const char *OP_NAME = "Add_Relu";')
    assert verify(source, "--log", log).result["inputs"]["dynamic_dims"] == [6, 7]


def test_names_that_are_others_count_by_position(verify: Callable[..., Verified], tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(_call("Op", "x = 4. y = 5."))
    assert verify(operator(symbols=2), "--log", log).result["inputs"]["dynamic_dims"] == [4, 5]
