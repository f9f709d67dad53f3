"""Acceptance of the call itself: what the second call must repeat, where a failure happened, what the user is told."""

from __future__ import annotations

from typing import Callable, Dict, Tuple

import pytest
from tiling_operators import Verified, needs_compiler, operator

pytestmark = needs_compiler

RUNNERS = pytest.mark.parametrize("runner", ["native", "python"])

REPEATS: Dict[str, Tuple[str, str]] = {
    "return": ("if (calls++) return -1;", "a second call returned -1"),
    "block_dim": ("*blockDim = 2 + calls++;", "a second call gives block_dim 3, the first 2"),
    "workspace": (
        "*workspaceSize += 512 * calls++;",
        "a second call gives workspace_size 16777728, the first 16777216",
    ),
    "bytes": ("tiling->words[0] = ++calls;", "a second call gives other bytes"),
}


@RUNNERS
@pytest.mark.parametrize("name", REPEATS)
def test_the_second_call_must_say_the_same(verify: Callable[..., Verified], name: str, runner: str) -> None:
    body, detail = REPEATS[name]
    run = verify(operator(body, extra="static int calls;"), "--runner", runner)
    failed = [(check["name"], check["detail"]) for check in run.result["checks"] if check["passed"] is False]
    assert (run.code, run.result["status"], failed) == (1, "SUCCEEDED", [("repeatable", detail)])


PLACES: Dict[str, Tuple[str, str, str]] = {
    "returned": ("return -1;", "returned -1", "AutofuseTiling"),
    "wide": ("workspaceSize[1] = 1;", "buffer overrun", "AutofuseTiling"),
    "overrun": ("tiling->words[6] = 1;", "buffer overrun", "AutofuseTiling"),
    "later_overrun": ("if (calls++) tiling->words[6] = 1;", "buffer overrun", "repeat of AutofuseTiling"),
    "later_wide": ("if (calls++) blockDim[1] = 1;", "buffer overrun", "repeat of AutofuseTiling"),
}


@RUNNERS
@pytest.mark.parametrize("name", PLACES)
def test_a_failure_names_its_reason_and_its_place(verify: Callable[..., Verified], name: str, runner: str) -> None:
    body, reason, place = PLACES[name]
    run = verify(operator(body, extra="static int calls;"), "--runner", runner)
    assert (run.code, run.result["status"]) == (1, "RUNTIME_FAILED")
    assert (run.result["error"], run.result["phase"]) == (reason, place)


@pytest.mark.parametrize(
    "body", ["tiling->words[1 << 20] = 1;", "(&tiling->block_dim)[-(1 << 20)] = 1;", "blockDim[1 << 16] = 1;"]
)
def test_a_stray_index_far_away_is_an_overrun_too(verify: Callable[..., Verified], body: str) -> None:
    run = verify(operator(body))
    assert (run.code, run.result["error"], run.result["phase"]) == (1, "buffer overrun", "AutofuseTiling")


@pytest.mark.parametrize("options", [(), ("-f", "csv"), ("-f", "console")], ids=" ".join)
def test_a_failure_is_told_on_standard_error_whatever_the_format(
    verify: Callable[..., Verified], options: Tuple[str, ...]
) -> None:
    told = {
        "return -1;": "autofuse: RUNTIME_FAILED: returned -1",
        "*blockDim = 49;": "autofuse: SUCCEEDED, but checks failed: block_dim: 49 is not in 1..48 (aiv_num)",
        "int x = ;": "op_tiling_func.cpp:14: expected ",
    }
    for body, text in told.items():
        run = verify(operator(body), *options)
        assert (run.code, text in run.stderr) == (1, True), run.stderr


@RUNNERS
def test_a_long_overrun_is_told_by_both_runners(verify: Callable[..., Verified], runner: str) -> None:
    run = verify(operator("memset(tiling, 1, 1 << 20);"), "--runner", runner)
    assert (run.code, run.result["error"]) == (1, "buffer overrun")
