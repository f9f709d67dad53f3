"""The language of --sweep: `s0=64:4096:*2 s1=1,7,512 aiv=24,48 ub=196608` and the points it stands for."""

from __future__ import annotations

import itertools
import re
from array import array
from dataclasses import dataclass
from typing import Dict, Iterator, List, Sequence, Tuple

from autofuse.errors import AutofuseError

from autofuse_att_verify.contract import LARGEST_AIV_NUM, LARGEST_DIM, LARGEST_UB_SIZE, Contract

__all__ = ["MOST_POINTS", "Axis", "Plan", "read_spec", "values_given"]

MOST_POINTS = 2_000_000
_GRAMMAR = "NAME=1,7,512 or NAME=64:4096:*2 (or :+64, or nothing for steps of 1), separated by blanks"
_RANGE = re.compile(r"(\d{1,10}):(\d{1,10})(?::([*+]?)(\d{1,10}))?")
_RANGES = {"aiv": LARGEST_AIV_NUM, "ub": LARGEST_UB_SIZE}


@dataclass(frozen=True)
class Axis:
    """One input and the values it takes, in the order given, without repetitions."""

    name: str
    values: Tuple[int, ...]

    @property
    def varies(self) -> bool:
        """Whether it has more than one value."""
        return len(self.values) > 1


@dataclass(frozen=True)
class Plan:
    """The grid of a sweep: the shape symbols in the order of the signature, then `aiv` and `ub`."""

    spec: str
    axes: Tuple[Axis, ...]
    passes_limit: bool
    """Whether an inductor call gets a ResLimit, because aiv or ub was swept or --aiv-num given."""
    hardware: Tuple[str, ...] = ()
    """`aiv` and `ub`, as far as the spec names them."""

    @property
    def count(self) -> int:
        """Number of points."""
        count = 1
        for axis in self.axes:
            count *= len(axis.values)
        return count

    @property
    def varying(self) -> List[Axis]:
        """The axes that take more than one value."""
        return [axis for axis in self.axes if axis.varies]

    def points(self) -> Iterator[Tuple[int, ...]]:
        """Every point, the last axis fastest."""
        return itertools.product(*(axis.values for axis in self.axes))

    def packed(self) -> array[int]:
        """The points as a runner takes them."""
        packed = array("I")
        tail = (int(self.passes_limit),)
        for point in self.points():
            packed.extend(point + tail)
        return packed


def read_spec(spec: str, symbols: Sequence[str], contract: Contract) -> Plan:
    """The plan that `spec` describes; what it does not name keeps the contract's value. AutofuseError on a mistake."""
    given = values_given(spec, symbols)
    defaults = [*zip(symbols, contract.dynamic_dims), ("aiv", contract.aiv_num), ("ub", contract.ub_size)]
    axes = tuple(Axis(name, given.get(name, (value,))) for name, value in defaults)
    hardware = tuple(name for name in ("aiv", "ub") if name in given)
    plan = Plan(spec, axes, contract.abi.kind == "inductor" and (contract.aiv_num_given or bool(hardware)), hardware)
    if plan.count > MOST_POINTS:
        raise AutofuseError(f"--sweep: {plan.count} points", hint=f"at most {MOST_POINTS}")
    return plan


def values_given(spec: str, symbols: Sequence[str]) -> Dict[str, Tuple[int, ...]]:
    """Name → the values that `spec` gives it, in its order. AutofuseError on a mistake."""
    names = (*symbols, "aiv", "ub")
    given: Dict[str, Tuple[int, ...]] = {}
    for word in spec.split():
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise AutofuseError(f"--sweep: {word[:60]!r} is no NAME=VALUES", hint=_GRAMMAR)
        if name not in names:
            raise AutofuseError(f"--sweep: unknown name {name[:60]!r}", hint=f"names: {', '.join(names)}")
        if name in given:
            raise AutofuseError(f"--sweep: {name} is given twice", hint=_GRAMMAR)
        given[name] = _values(name, text, _RANGES.get(name, LARGEST_DIM))
    if not given:
        raise AutofuseError("--sweep names nothing to vary", hint=_GRAMMAR)
    return given


def _values(name: str, text: str, largest: int) -> Tuple[int, ...]:
    values: List[int] = []
    for part in text.split(","):
        values += _part(name, part)
        if len(values) > MOST_POINTS:
            raise AutofuseError(f"--sweep: {name} takes more than {MOST_POINTS} values")
    wrong = next((value for value in values if not 1 <= value <= largest), None)
    if wrong is not None:
        raise AutofuseError(f"--sweep: {name}={wrong} is out of range", hint=f"accepted: 1 to {largest}")
    return tuple(dict.fromkeys(values))


def _part(name: str, part: str) -> List[int]:
    if re.fullmatch(r"\d{1,10}", part):
        return [int(part)]
    found = _RANGE.fullmatch(part)
    if not found:
        raise AutofuseError(f"--sweep: {name}={part[:60]!r} is neither a number nor a range", hint=_GRAMMAR)
    first, last, step = int(found[1]), int(found[2]), int(found[4] or 1)
    if first > last:
        raise AutofuseError(f"--sweep: {name}={part}: the range ends before it begins", hint=_GRAMMAR)
    if found[3] == "*":
        return _geometric(name, part, first, last, step)
    if step < 1:
        raise AutofuseError(f"--sweep: {name}={part}: a step of 0 never ends", hint=_GRAMMAR)
    if (last - first) // step >= MOST_POINTS:
        raise AutofuseError(f"--sweep: {name}={part} takes more than {MOST_POINTS} values")
    return list(range(first, last + 1, step))


def _geometric(name: str, part: str, first: int, last: int, factor: int) -> List[int]:
    if factor < 2 or first < 1:
        raise AutofuseError(f"--sweep: {name}={part}: needs a start of 1 and a factor of 2 at least", hint=_GRAMMAR)
    values = [first]
    while values[-1] * factor <= last:
        values.append(values[-1] * factor)
    return values
