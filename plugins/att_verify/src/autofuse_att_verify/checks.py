"""What is checked of one call that came back, each check by name; and what a failed call is reported as.

A check that could not be made says why and passes nothing off as passed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional

from autofuse_att_verify.contract import Contract
from autofuse_att_verify.runner import Answer

__all__ = ["Check", "Limits", "failure", "point_problem", "single_checks"]

LEAST_WORKSPACE = 16 << 20
_WORD = 0xFFFFFFFF


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


def failure(answer: Answer, contract: Contract) -> Optional[str]:
    """The reason of RUNTIME_FAILED; None when the call came back and returned 0."""
    problem = answer.get("fatal") or answer.get("error")
    if problem:
        return str(problem)
    if answer.get("ret") != 0:
        return f"returned {answer.get('ret')}"
    if answer.get("repeat_error"):
        return f"{answer['repeat_error']} (in the repeated call)"
    if _wide(answer, contract.abi.block_dim_width):
        return "buffer overrun"
    if answer.get("left"):
        return "left processes running"
    return None


def point_problem(answer: Answer, limits: Limits) -> Optional[str]:
    """Why a point of a sweep counts as failed; None when it does not."""
    problem = answer.get("fatal") or answer.get("error")
    if problem:
        return str(problem)
    if answer.get("ret") != 0:
        return f"returned {answer.get('ret')}"
    if _wide(answer, limits.block_dim_width):
        return "buffer overrun"
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


def _wide(answer: Answer, width: int) -> bool:
    """Whether more was written to a 32-bit output than it has room for."""
    return int(answer.get("workspace", 0)) > _WORD or (width == 32 and int(answer.get("block_dim", 0)) > _WORD)


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
