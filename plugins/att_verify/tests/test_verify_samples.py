"""The sample operators of examples/tiling through the command line: results, decoded data, the log they leave."""

from __future__ import annotations

import re
import struct
from typing import Any, Callable, Dict, List, Tuple

import pytest
from tiling_operators import EXAMPLES, Verified, contract, needs_compiler

pytestmark = [needs_compiler, pytest.mark.skipif(not EXAMPLES.is_dir(), reason="installed without the examples")]

PLOG = re.compile(
    r"\[(?:DEBUG|INFO|WARNING|ERROR)\] GE\(\d+,autofuse\):\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{3}\.\d{3} "
    r"\[[\w.]+\.cpp:\d+\]\d+ \w+:"
)


def _log(run: Verified) -> List[str]:
    return (run.folder / "att.log").read_text(encoding="utf-8").splitlines()


def test_the_newest_style(verify: Callable[..., Verified]) -> None:
    """512 x 100000 does not fit whole rows: sub-case R0 wins, of the first result, as --case expects."""
    run = verify(EXAMPLES / "mul_sum_dyn", "--case", "r=0,c=R0", inputs=contract([512, 100000]))
    result = run.result
    assert (run.code, result["status"], result["scene"], result["toolkit"]) == (0, "SUCCEEDED", "tf", "shim")
    assert [item["template"] for item in result["choice"]] == ["graph0_result0_g0_R0"]
    assert (result["tiling_key"], result["workspace_size"]) == (1, 16 << 20)
    fields = result["tiling_data_fields"]
    group = fields["graph0_result0_g0_tiling_data"]
    assert (group["s0"], group["s1"], group["block_dim"]) == (512, 100000, result["block_dim"])
    data = bytes.fromhex(result["tiling_data"])
    assert struct.unpack_from("<I", data)[0] == result["block_dim"]
    assert all(check["passed"] for check in result["checks"])
    assert result["compiler"]["version"]
    assert result["res_limit_passed"] is None


def test_two_groups_and_their_log(two_groups: Verified) -> None:
    """The second result wins, whose groups run one after the other; the log is one call of the plog form."""
    run = two_groups
    assert [item["template"] for item in run.result["choice"]] == ["graph0_result1_g0_0", "graph0_result1_g1_0"]
    lines = _log(run)
    assert all(PLOG.match(line) for line in lines)
    text = "\n".join(lines)
    assert text.count("]Start GetTiling.") == text.count("]End GetTiling.") == 1
    assert "Set input params for tiling case 0 of AscGraph0ScheduleResult1G1.  A_org_size = 8. Rm_org_size = " in text
    assert re.search(r"The value of graph0_result1 is [\d.]+ objective\(group_sum", text)
    assert "[PROF]Among all schedule results, graph0_result1 is the best choice." in text
    assert "DEBUG" not in text
    for item in run.result["choice"]:
        for pipe, value in item["pipes"].items():
            assert f"The value of {pipe} is {value} in {item['template']}." in text


def test_an_infeasible_call_logs_a_readable_error(verify: Callable[..., Verified]) -> None:
    run = verify(EXAMPLES / "mul_sum_dyn", inputs=contract([64, 30000], ub_size=2048))
    assert (run.code, run.result["status"], run.result["error"]) == (1, "RUNTIME_FAILED", "returned -1")
    assert run.result["reports"] == ["E19999: [autofuse_reduce_1_Mul_Sum]No schedule result of graph0 can be tiled."]
    errors = [line for line in _log(run) if line.startswith("[ERROR]")]
    assert len(errors) == 1
    assert errors[0].endswith(
        "ErrorNo: 4294967295() [autofuse_reduce_1_Mul_Sum]No schedule result of graph0 can be tiled."
    )
    assert run.result["block_dim"] is None


def test_the_old_style(verify: Callable[..., Verified]) -> None:
    run = verify(EXAMPLES / "abs_add_old", "--preset", "B")
    assert (run.code, run.result["inputs"]["origin"], run.result["inputs"]["aiv_num"]) == (0, "preset_B", 56)
    assert "[autofuse_pointwise_3_Abs_Add]The user didn't specify tilingCaseId" in "\n".join(_log(run))


def test_a_static_operator_with_nested_data(verify: Callable[..., Verified]) -> None:
    run = verify(EXAMPLES / "relu_static")
    assert (run.code, run.result["inputs"]["origin"], run.result["abi"]["kind"]) == (0, "preset_A", "tf_static")
    fields = run.result["tiling_data_fields"]
    assert fields["flags"] == [0, 1]
    assert fields["elements"] == 4096000
    assert fields["tails"] == [{"rows": 16, "ratio": pytest.approx(2 / 3)}, {"rows": -1, "ratio": 0.0}]
    assert any(line.endswith("AscGraph0ScheduleResult0G0. ") for line in _log(run))
    assert "aiv_num 48 (from preset_A), ub_size 196608, dynamic_dims []" in run.stderr
    assert "this compiles and runs native code from" in run.stderr


INDUCTOR: Dict[str, Tuple[Any, ...]] = {
    "null": ((), False, 48, "no ResLimit is passed, the code's own default (48 cores) holds"),
    "limit": (("--aiv-num", "7"), True, 7, "a ResLimit with it is passed"),
}


@pytest.mark.parametrize("name", INDUCTOR)
def test_inductor_with_and_without_a_limit(verify: Callable[..., Verified], name: str) -> None:
    options, passed, cores, notice = INDUCTOR[name]
    run = verify(EXAMPLES / "gelu_inductor", *options, inputs=contract([1024, 512], "inductor"))
    assert (run.code, run.result["scene"], run.result["res_limit_passed"]) == (0, "inductor", passed)
    assert notice in run.stderr
    assert run.check("block_dim") is True
    assert any(f"in 1..{cores}" in check["detail"] for check in run.result["checks"])
    assert run.check("workspace_size") is None
    assert run.result["inputs"]["origin"].endswith("+--aiv-num" if passed else "inputs.json")
    assert f"block_dim = {cores}." in "\n".join(_log(run))


def test_both_runners_give_the_same_result(verify: Callable[..., Verified]) -> None:
    same = ("status", "block_dim", "workspace_size", "tiling_key", "tiling_data", "choice", "checks", "exports")
    results = []
    for runner in ("native", "python"):
        run = verify(EXAMPLES / "abs_add_old", "--preset", "B", "--runner", runner)
        assert run.result["runner"] == runner
        messages = [re.sub(r"^.*?\] [^[]*\[", "[", line) for line in _log(run)]
        results.append(([run.result[key] for key in same], [re.sub(r"\]\d+ ", "]", line) for line in messages]))
    assert results[0] == results[1]


def test_the_tables_of_other_reporters(verify: Callable[..., Verified]) -> None:
    run = verify(EXAMPLES / "relu_static", "-f", "csv")
    assert run.outcome.stdout == ""
    text = (run.folder / "tiling_data.csv").read_text(encoding="utf-8-sig")
    assert "tails[0].rows,16\n" in text
    assert (run.folder / "checks.csv").read_text(encoding="utf-8-sig").startswith("Check,Result,Detail\n")


def test_a_case_that_is_not_chosen_fails_its_check(verify: Callable[..., Verified]) -> None:
    run = verify(EXAMPLES / "relu_static", "--case", "c=1")
    assert (run.code, run.check("case"), run.result["case"]) == (1, False, "c=1")
