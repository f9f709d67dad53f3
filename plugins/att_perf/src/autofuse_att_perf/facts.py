"""What the command says about each operator on standard error, whether it was analysed here or in another process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable, Dict, List, Sequence, Tuple

from autofuse_att_perf.analysis import OperatorAnalysis
from autofuse_att_perf.branches import plain_number
from autofuse_att_perf.checks import Check

__all__ = ["Facts", "facts_of", "say_what_is_missing"]

_SHOWN = 5
_BAD_STATUSES = {
    "mismatch": ("value differs", "values differ", " from the log: stale sources, or another operator's"),
    "missing_symbol": ("value", "values", " cannot be computed for want of a symbol"),
    "error": ("value", "values", " cannot be computed"),
}


@dataclass(frozen=True)
class Facts:
    """One operator in short."""

    name: str
    has_formulas: bool
    problems: Dict[str, Tuple[int, str]] = field(default_factory=dict)
    """Status of a check → how many there are, and the first of them in words."""


def facts_of(analysis: OperatorAnalysis) -> Facts:
    """The facts of one operator."""
    problems: Dict[str, Tuple[int, str]] = {}
    for group in analysis.groups:
        for template in group.templates:
            for check in template.checks:
                if check.status in _BAD_STATUSES:
                    count, first = problems.get(check.status, (0, ""))
                    where = f"{analysis.log.name} case {template.candidate.case} {check.quantity}"
                    problems[check.status] = (count + 1, first or f"{where}: {_why(check)}")
    return Facts(analysis.log.name, analysis.has_formulas, problems)


def _why(check: Check) -> str:
    return check.note or f"{plain_number(check.formula)} by formula, {check.logged} in the log"


def say_what_is_missing(facts: Sequence[Facts], say: Callable[[str], None]) -> None:
    """One line for operators without formulas, and one per kind of problem."""
    without: List[str] = [fact.name for fact in facts if not fact.has_formulas]
    if without:
        more = f" and {len(without) - _SHOWN} more" if len(without) > _SHOWN else ""
        say(f"skipped {len(without)} without formulas: {', '.join(without[:_SHOWN])}{more}")
    for status, (one, several, meaning) in _BAD_STATUSES.items():
        found = [fact.problems[status] for fact in facts if status in fact.problems]
        if found:
            count = sum(count for count, _ in found)
            say(f"{count} {one if count == 1 else several}{meaning} (the first: {found[0][1]})")
