"""Why an objective moved from one run to the other: the change of its largest pipe and of its head cost."""

from __future__ import annotations

from decimal import Decimal
from typing import Dict, List, NamedTuple, Optional, Tuple

from autofuse_att_summary.compare_model import number_of
from autofuse_att_summary.compare_sides import SideRow
from autofuse_att_summary.exact import EXACT
from autofuse_att_summary.model import PIPES

__all__ = ["explain_change"]


def explain_change(base: SideRow, candidate: SideRow) -> str:
    """One sentence: the objective's change as that of its largest pipe and of the head cost; empty when they are equal.

    The objective is the largest pipe plus the head cost, so the two parts add up to its change exactly.
    """
    old, new = _parts(base), _parts(candidate)
    if old is None or new is None or old == new:
        return ""
    total = EXACT.subtract(new.objective, old.objective)
    pipe = EXACT.subtract(new.cycles, old.cycles)
    head = EXACT.subtract(total, pipe)
    name = new.pipe if new.pipe == old.pipe else f"bottleneck {old.pipe} → {new.pipe}"
    parts = [f"{name} {_signed(pipe)}", f"head cost {_signed(head)}"]
    others = _largest_other(base, candidate, {old.pipe, new.pipe})
    text = f"objective {_signed(total)} = {', '.join(parts)}"
    return f"{text}; {others}" if others else text


class _Parts(NamedTuple):
    """An objective, taken apart."""

    objective: Decimal
    pipe: str
    cycles: Decimal


def _parts(row: SideRow) -> Optional[_Parts]:
    objective = number_of(row, "Objective Value")
    pipes = _pipes(row)
    if objective is None or not objective.is_finite() or not pipes:
        return None
    pipe, cycles = max(sorted(pipes.items()), key=lambda item: item[1])
    return _Parts(objective, pipe, cycles) if cycles.is_finite() else None


def _pipes(row: SideRow) -> Dict[str, Decimal]:
    found = {name: number_of(row, name) for name in PIPES}
    return {name: value for name, value in found.items() if value is not None}


def _largest_other(base: SideRow, candidate: SideRow, shown: set[str]) -> str:
    """The pipe that moved most without bounding the operator on either side."""
    old, new = _pipes(base), _pipes(candidate)
    moved: List[Tuple[Decimal, str]] = [
        (EXACT.subtract(new[name], old[name]), name)
        for name in sorted(old)
        if name in new and name not in shown and old[name].is_finite() and new[name].is_finite()
    ]
    moved = [item for item in moved if item[0] != 0]
    if not moved:
        return ""
    change, name = max(moved, key=lambda item: abs(item[0]))
    return f"{name} {_signed(change)} does not bound it"


def _signed(value: Decimal) -> str:
    """Six decimals are all that the log prints; a number too long to have any stays as it is."""
    rounded = value.quantize(Decimal("0.000001"), context=EXACT)
    text = format((value if rounded.is_nan() else rounded).normalize(EXACT), "f")
    return text if text.startswith("-") else f"+{text}"
