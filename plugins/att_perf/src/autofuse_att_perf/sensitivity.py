"""How much the objective and each pipe move when one tiling parameter moves and all others stay."""

from __future__ import annotations

import math
from typing import List, Mapping, NamedTuple, Optional, Sequence, Tuple

from autofuse_att_perf.evaluate import Evaluation
from autofuse_att_perf.native import run_changes
from autofuse_att_perf.tape import Tape, Value

__all__ = ["Responses", "Sensitivity", "responses"]

_STEP = 1e-4
"""Relative step for values that are no integers."""


class Sensitivity(NamedTuple):
    """One target and one parameter."""

    target: str
    """`objective` or a pipe."""
    parameter: str
    value: Value
    """The parameter as logged."""
    base: float
    """The target at that value, in cycles."""
    elasticity: Optional[float]
    """Relative change of the target per relative change of the parameter; None when that has no meaning."""
    half: Value
    at_half: Optional[float]
    """The target there; None when it has no value."""
    double: Value
    at_double: Optional[float]


class Responses:
    """What all targets do at the four values that each parameter takes."""

    def __init__(
        self,
        targets: Mapping[str, int],
        bases: Mapping[str, Optional[float]],
        plans: Sequence[_Plan],
        moved: Sequence[Sequence[Optional[Value]]],
    ) -> None:
        self.targets = targets
        self._bases = bases
        self._plans = plans
        self._moved = moved

    def of(self, target: str) -> List[Sensitivity]:
        """One target against every parameter; empty when it is unknown or has no value."""
        base = self._bases.get(target)
        if base is None:
            return []
        column = list(self.targets).index(target)
        return [
            plan.result(target, base, [_known(self._moved[4 * row + offset][column]) for offset in range(4)])
            for row, plan in enumerate(self._plans)
        ]


def responses(
    tape: Tape,
    evaluation: Evaluation,
    parameters: Sequence[str],
    targets: Mapping[str, int],
    upper: Mapping[str, Value],
) -> Responses:
    """Every target against every parameter that the tape uses.

    `targets` maps names to slots, `upper` has the largest value of a parameter where it is known. Parameters that are
    integers move by whole steps and stay at 1 or above when they are.
    """
    used = [(tape.symbols.index(name), name) for name in parameters if name in tape.symbols]
    plans = [_Plan(index, name, evaluation.inputs[index], upper.get(name)) for index, name in used]
    changes = [(plan.index, value) for plan in plans for value in plan.points]
    moved = run_changes(tape, evaluation, changes, list(targets.values()))
    values = {target: evaluation.slots[slot] for target, slot in targets.items()}
    bases = {target: None if value is None else float(value) for target, value in values.items()}
    return Responses(targets, bases, plans, moved)


class _Plan:
    """The four values that one parameter takes: a step down, a step up, half and double."""

    def __init__(self, index: int, name: str, value: Value, upper: Optional[Value]) -> None:
        self.index = index
        self.name = name
        self.value = value
        self.down, self.up = _steps(value, upper)
        self.half = _half(value)
        self.points: Tuple[Value, ...] = (self.down, self.up, self.half, value * 2)

    def result(self, target: str, base: float, points: Sequence[Optional[float]]) -> Sensitivity:
        """The row for one target; `points` are its values at `self.points`."""
        elasticity = self._elasticity(base, points[0], points[1])
        return Sensitivity(
            target, self.name, self.value, base, elasticity, self.half, points[2], self.value * 2, points[3]
        )

    def _elasticity(self, base: float, at_down: Optional[float], at_up: Optional[float]) -> Optional[float]:
        down, up = self.down, self.up
        # Where one side leaves the domain (a division by zero, a nan) the other side alone tells.
        if at_down is None or not math.isfinite(at_down):
            down, at_down = self.value, base
        if at_up is None or not math.isfinite(at_up):
            up, at_up = self.value, base
        if up == down or not math.isfinite(base) or base == 0 or not self.value:
            return None
        result = (at_up - at_down) / float(up - down) * float(self.value) / base
        return result if math.isfinite(result) else None


def _known(value: Optional[Value]) -> Optional[float]:
    return None if value is None else float(value)


def _steps(value: Value, upper: Optional[Value]) -> Tuple[Value, Value]:
    if isinstance(value, float):
        step = abs(value) * _STEP
        return (value - step, value + step) if math.isfinite(value) else (value, value)
    down = max(value - 1, 1) if value >= 1 else value - 1
    return down, min(value + 1, upper) if upper is not None and value <= upper else value + 1


def _half(value: Value) -> Value:
    if isinstance(value, float):
        return value / 2
    # Half of 1 is no tile size.
    return max(value // 2, 1) if value >= 1 else value // 2
