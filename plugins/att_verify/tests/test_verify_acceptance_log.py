"""Acceptance of --log: which call is taken, when a comparison means something, groups that print nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

import pytest
from tiling_operators import Verified, contract, needs_compiler, operator

pytest.importorskip("autofuse_att_summary")
pytestmark = needs_compiler

HEAD = "[INFO] GE(7,op):2026-01-01-00:00:00.000.000 [a.cpp:1]7 GetTiling:[Op]"
SOURCE = operator("tiling->s0 = s0;", 2)


def call(shape: str, block_dim: int = 2, cores: int = 48, result: int = 0, times: int = 1) -> str:
    group = [
        f"Set input params for tiling case 0 of AscGraph0ScheduleResult{result}G0.  {shape}",
        f"Set hardware params. ub_size = 196608. block_dim = {cores}.",
        f"[PROF]The value of block_dim is {block_dim} in graph0_result{result}_g0_0.",
        f"[PROF]Among the templates, tiling case 0 of graph0_result{result}_g0 is the best choice.",
    ]
    return "".join(f"{HEAD}{line}\n" for line in ["Start GetTiling.", *group * times, "End GetTiling."])


def checks(run: Verified) -> Dict[str, Optional[bool]]:
    return {c["name"]: c["passed"] for c in run.result["checks"] if c["name"].startswith("log_")}


@pytest.fixture
def logged(verify: Callable[..., Verified], tmp_path: Path) -> Callable[..., Verified]:
    """`logged(text, *options)`: a run with --log."""

    def run(text: str, *options: Any, source: Any = SOURCE, **inputs: Any) -> Verified:
        (tmp_path / "op.log").write_text(text)
        return verify(source, "--log", tmp_path / "op.log", *options, **inputs)

    return run


def test_a_call_that_no_contract_may_ask_for_is_passed_over(logged: Callable[..., Verified]) -> None:
    """A shape with a zero cannot be repeated; the last call that can be is taken."""
    nothing = call("s0 = 0. s1 = 5.")
    run = logged(call("s0 = 4. s1 = 5.") + nothing)
    assert (run.code, run.result["inputs"]["dynamic_dims"]) == (0, [4, 5])
    failed = call("s0 = 6. s1 = 7.").replace("[PROF]Among the templates", "Nothing")
    run = logged(failed + nothing)
    assert (run.code, run.result["inputs"]["dynamic_dims"]) == (0, [6, 7])


@pytest.mark.parametrize(("symbols", "shown"), [(1, "1 shape symbol (s0)"), (0, "0 shape symbols")])
def test_more_symbols_in_the_log_than_in_the_source(logged: Callable[..., Verified], symbols: int, shown: str) -> None:
    run = logged(call("s0 = 4. s1 = 5."), source=operator(symbols=symbols))
    assert (run.code, run.folder.exists()) == (2, False)
    assert f"AutofuseTiling has {shown}, but the call of 'Op' has 2 (s0, s1)" in run.stderr


def test_explicit_inputs_are_compared_with_their_own_call(logged: Callable[..., Verified]) -> None:
    text = call("s0 = 4. s1 = 5.") + call("s0 = 6. s1 = 7.", block_dim=9)
    run = logged(text, inputs=contract([4, 5]))
    assert (run.code, run.result["inputs"]["dynamic_dims"], checks(run)["log_block_dim"]) == (0, [4, 5], True)
    run = logged(text, inputs=contract([6, 7]))
    assert (run.code, checks(run)["log_block_dim"]) == (1, False)


def _details(run: Verified) -> List[str]:
    return [c["detail"] for c in run.result["checks"] if c["name"].startswith("log_")]


def test_other_inputs_than_the_logs_are_not_compared(logged: Callable[..., Verified]) -> None:
    text = call("s0 = 4. s1 = 5.", block_dim=9, cores=20)
    run = logged(text, inputs=contract([8, 8]))
    assert (run.code, set(checks(run).values())) == (0, {None})
    assert set(_details(run)) == {"not compared: the call in the log had the shape 4 5, this one the shape 8 8"}
    run = logged(text, "--aiv-num", "30")
    assert (run.code, run.result["inputs"]["aiv_num"], set(checks(run).values())) == (0, 30, {None})
    assert set(_details(run)) == {"not compared: the call in the log had aiv_num 20, this one 30"}


TWIN = """#include <cstdint>
struct Group { uint32_t block_dim, z0t_size; };
struct AutofuseTilingData { uint32_t block_dim, graph0_tiling_key;
  Group graph0_result0_g0_tiling_data, graph0_result1_g0_tiling_data, graph0_result1_g1_tiling_data; };
"""
TWIN_BODY = """
  tiling->graph0_result1_g0_tiling_data.block_dim = tiling->graph0_result1_g1_tiling_data.block_dim = 3;
  *blockDim = tiling->block_dim = s0 == 5 ? 4 : 6;
"""


def test_a_group_that_reuses_another_ones_solver_counts(logged: Callable[..., Verified]) -> None:
    """Only the first group's lines are in the log, twice; both groups get blocks of their own."""
    source = {**operator(TWIN_BODY, 1), "autofuse_tiling_data.h": TWIN}
    run = logged(call("s0 = 4.", block_dim=3, result=1, times=2), source=source)
    assert (run.code, run.result["block_dim"], checks(run)["log_block_dim"]) == (0, 6, True), run.stderr
    run = logged(call("s0 = 5.", block_dim=3, result=1, times=2), source=source)
    assert (run.code, checks(run)["log_block_dim"]) == (1, False)
    details = dict(zip(checks(run), _details(run)))
    assert details["log_block_dim"] == "4; in the log: 3, with other groups 3"
