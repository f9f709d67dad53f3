"""What is checked of one call that came back, each check by name; and what a failed call is reported as.

A check that could not be made says why and passes nothing off as passed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional

from autofuse_att_verify.contract import Contract
from autofuse_att_verify.runner import Answer

__all__ = ["Check", "Failure", "Limits", "failure", "point_problem", "single_checks"]

LEAST_WORKSPACE = 16 << 20
_WORD = 0xFFFFFFFF
_BITS = 0xFFFFFFFFFFFFFFFF
_OVERRUN = "buffer overrun"
_CALL, _REPEAT = "AutofuseTiling", "repeat of AutofuseTiling"


@dataclass(frozen=True)
class Check:
    """One named check; `passed` is None when it could not be made."""

    name: str
    passed: Optional[bool]
    detail: str

    def as_json(self) -> Dict[str, Any]:
        """As result.json shows it."""
        return {"name": self.name, "passed": self.passed, "detail": self.detail}


@dataclass(frozen=True)
class Limits:
    """What the values of a call are measured by."""

    kind: str
    """ABI kind of the contract."""
    aiv_num: Optional[int]
    """Cores the call could use; None when inductor code used its own default and the source does not show it."""
    aiv_source: str
    """Where that number is from, for messages."""
    block_dim_width: int = 32


@dataclass(frozen=True)
class Failure:
    """Why a call is RUNTIME_FAILED, and where it happened."""

    reason: str
    phase: Optional[str] = None


def failure(answer: Answer, contract: Contract) -> Optional[Failure]:
    """What makes the call RUNTIME_FAILED; None when it came back and returned 0."""
    width = contract.abi.block_dim_width
    problem = answer.get("fatal") or answer.get("error")
    if problem:
        return Failure(str(problem), answer.get("phase"))
    if answer.get("ret") != 0:
        return Failure(f"returned {answer.get('ret')}", _CALL)
    if _wide(answer, width):
        return Failure(_OVERRUN, _CALL)
    if answer.get("repeat_error"):
        return Failure(str(answer["repeat_error"]), _REPEAT)
    if _wide(answer, width, "repeat_"):
        return Failure(_OVERRUN, _REPEAT)
    return Failure("left processes running") if answer.get("left") else None


def point_problem(answer: Answer, limits: Limits) -> Optional[str]:
    """Why a point of a sweep counts as failed; None when it does not."""
    problem = answer.get("fatal") or answer.get("error")
    if problem:
        return str(problem)
    if answer.get("ret") != 0:
        return f"returned {answer.get('ret')}"
    if _wide(answer, limits.block_dim_width):
        return _OVERRUN
    for check in (_block_dim(answer, limits), _workspace(answer, limits), _data(answer)):
        if check.passed is False:
            return f"{check.name}: {check.detail}"
    return None


def single_checks(answer: Answer, limits: Limits, key: Optional[int]) -> List[Check]:
    """All checks of a call that returned 0."""
    return [
        _block_dim(answer, limits),
        _workspace(answer, limits),
        _data(answer),
        _repeat(answer),
        Check("guard_bytes", True, "the bytes around tiling data and outputs are as they were"),
        _key(answer, key),
    ]


def _wide(answer: Answer, width: int, call: str = "") -> bool:
    """Whether more was written to a 32-bit output than it has room for."""
    workspace, block_dim = (int(answer.get(f"{call}{name}", 0)) & _BITS for name in ("workspace", "block_dim"))
    return workspace > _WORD or (width == 32 and block_dim > _WORD)


def _block_dim(answer: Answer, limits: Limits) -> Check:
    value = int(answer["block_dim"])
    if limits.aiv_num is None:
        if value < 1:
            return Check("block_dim", False, f"{value} is not at least 1")
        return Check("block_dim", None, f"{value}; not checked: no ResLimit was passed and {limits.aiv_source}")
    inside = 1 <= value <= limits.aiv_num
    return Check(
        "block_dim", inside, f"{value} is {'' if inside else 'not '}in 1..{limits.aiv_num} ({limits.aiv_source})"
    )


def _workspace(answer: Answer, limits: Limits) -> Check:
    value = int(answer["workspace"])
    if limits.kind == "inductor":
        return Check("workspace_size", None, f"{value}; not checked for inductor")
    enough = value >= LEAST_WORKSPACE
    return Check("workspace_size", enough, f"{value} bytes, {'at least' if enough else 'less than'} {LEAST_WORKSPACE}")


def _data(answer: Answer) -> Check:
    zero = bool(answer["zero"])
    return Check("tiling_data", not zero, "is still all zero" if zero else "differs from its zero fill")


def _repeat(answer: Answer) -> Check:
    if answer.get("repeat_ret", 0) != 0:
        return Check("repeatable", False, f"a second call returned {answer['repeat_ret']}")
    for key, name in (("block_dim", "block_dim"), ("workspace", "workspace_size")):
        first, second = answer[key], answer.get(f"repeat_{key}", answer[key])
        if first != second:
            return Check("repeatable", False, f"a second call gives {name} {second}, the first {first}")
    same = bool(answer.get("same"))
    return Check("repeatable", same, f"a second call gives {'the same' if same else 'other'} bytes")


def _key(answer: Mapping[str, Any], key: Optional[int]) -> Check:
    count = answer.get("key_count")
    if count is None:
        return Check("tiling_key", None, "GetTilingKeyCount is not exported")
    if key is None:
        return Check("tiling_key", None, f"{count} keys, but no tiling key can be read")
    inside = 0 <= key < count
    return Check("tiling_key", inside, f"{key} is {'' if inside else 'not '}one of {count} keys")
