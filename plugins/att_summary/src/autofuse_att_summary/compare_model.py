"""Matching the rows of two sides and finding what differs: pure functions from two sides to a comparison.

Operator, graph, result and group (and the input shape, where an operator has several calls) are the key; template,
tiling values and metrics are what is compared. A metric is in cycles: a negative difference means that the candidate
is faster.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Dict, Iterator, List, Optional, Sequence, Set, Tuple

from autofuse_att_summary.compare_sides import Side, SideRow
from autofuse_att_summary.exact import EXACT, exact, percent
from autofuse_att_summary.model import PIPES

__all__ = ["Comparison", "Difference", "Pair", "compare_sides", "is_metric", "number_of"]

Key = Tuple[str, ...]

_METRIC = re.compile(r"(AIV|AIC|AICORE)_\w+\Z", re.ASCII)
_NOT_COMPARED = frozenset({"Source", "Line", "Invocation", "Invocations", "Variant", "Case", "Sub Case"})
_LARGEST_LOG = 709.0
"""Of a double."""
_RUNNING_NUMBER = re.compile(r"\d+", re.ASCII)


@dataclass(frozen=True)
class Difference:
    """One field that differs. `kind` is `template`, `metric`, `tiling` or `other`."""

    kind: str
    field: str
    base: Optional[str]
    candidate: Optional[str]
    difference: Optional[Decimal] = None
    percent: Optional[float] = None
    """Of the base; None where the base is 0 or a side is no finite number."""


@dataclass
class Pair:
    """A row of the base and the row of the candidate that it is compared with."""

    base: SideRow
    candidate: SideRow
    metric: Optional[str] = None
    """The metric that the row is judged by."""
    differences: List[Difference] = field(default_factory=list)

    @property
    def row(self) -> SideRow:
        """Whose names are shown."""
        return self.candidate

    def values(self, metric: str) -> Tuple[Optional[Decimal], Optional[Decimal]]:
        """A metric on both sides; None where it is absent or nan."""
        return number_of(self.base, metric), number_of(self.candidate, metric)

    def texts(self, metric: Optional[str]) -> Tuple[Optional[str], Optional[str]]:
        """A metric on both sides as it stands there."""
        if metric is None:
            return None, None
        return self.base.cells.get(metric), self.candidate.cells.get(metric)

    @property
    def verdict(self) -> str:
        """`faster`, `slower`, `equal`, `lost`, `new`, or `-` when neither side has the metric."""
        base, candidate = self.values(self.metric) if self.metric else (None, None)
        if base is None or candidate is None:
            return "-" if base is candidate else ("new" if base is None else "lost")
        return "equal" if base == candidate else ("slower" if candidate > base else "faster")

    @property
    def template_changed(self) -> bool:
        """Whether another template or result was chosen."""
        return any(difference.kind == "template" for difference in self.differences)

    @property
    def impact(self) -> float:
        """How much the judged metric moved, in percent of the base, for sorting."""
        if self.metric is None:
            return 0.0
        base, candidate = self.values(self.metric)
        if base is None or candidate is None:
            return math.inf if self.verdict == "lost" else 0.0
        percent = percent_of(base, candidate)
        return abs(percent) if percent is not None else (0.0 if base == candidate else math.inf)


@dataclass
class Comparison:
    """All there is to say about two sides."""

    base: Side
    candidate: Side
    pairs: List[Pair]
    """Matched rows, the template changes first, then by impact."""
    only_base: List[SideRow]
    only_candidate: List[SideRow]
    operators_matched: List[str]
    operators_base: List[str]
    operators_candidate: List[str]
    duplicates: Dict[str, int]
    """Side → rows whose key had occurred before; the first one stays."""
    renamed: List[Tuple[str, str]]
    """Operators that were paired although their running numbers differ."""

    def count(self, verdict: str) -> int:
        """How many matched rows got that verdict."""
        return sum(pair.verdict == verdict for pair in self.pairs)

    @property
    def geometric_mean(self) -> Optional[float]:
        """Of candidate / base over the judged metrics; None when there is none."""
        logs = []
        for pair in self.pairs:
            base, candidate = pair.values(pair.metric) if pair.metric else (None, None)
            if base is None or candidate is None or not (base.is_finite() and candidate.is_finite()):
                continue
            if base > 0 and candidate > 0:
                logs.append(float((candidate / base).ln()))
        mean = math.fsum(logs) / len(logs) if logs else None
        return None if mean is None else (math.exp(mean) if mean < _LARGEST_LOG else math.inf)


def compare_sides(base: Side, candidate: Side, by_name: bool, metrics: Sequence[str] = ()) -> Comparison:
    """Matches and compares; with `by_name` also operators whose names differ only in running numbers, where unique."""
    names = _renamed(base, candidate) if by_name else {}
    several = _several(base, {}) | _several(candidate, names)
    grouped = (_grouped(base, {}, several), _grouped(candidate, names, several))
    (left, left_twice), (right, right_twice) = (_keyed(own, other) for own, other in (grouped, grouped[::-1]))
    pairs = [Pair(row, right[key]) for key, row in left.items() if key in right]
    rest_base = {key: row for key, row in left.items() if key not in right}
    rest_candidate = {key: row for key, row in right.items() if key not in left}
    pairs.extend(_result_changes(rest_base, rest_candidate))
    for pair in pairs:
        pair.metric = _judged(pair, metrics)
        pair.differences = list(_differences(pair))
    pairs.sort(key=lambda pair: (not pair.template_changed, -pair.impact))
    ours = base.operators
    shared = set(ours) & {names.get(name, name) for name in candidate.operators}
    return Comparison(
        base,
        candidate,
        pairs,
        list(rest_base.values()),
        list(rest_candidate.values()),
        [name for name in ours if name in shared],
        [name for name in ours if name not in shared],
        [name for name in candidate.operators if names.get(name, name) not in shared],
        {side.name: count for side, count in ((base, left_twice), (candidate, right_twice)) if count},
        [(old, new) for new, old in names.items()],
    )


def is_metric(name: str) -> bool:
    """Whether a column holds modelled cycles."""
    return name in PIPES or name in ("Objective Value", "Result Perf") or _METRIC.match(name) is not None


def number_of(row: SideRow, name: str) -> Optional[Decimal]:
    """The cell as an exact number; None when it is absent, nan or no number."""
    value = exact(row.cells.get(name))
    return None if value is None or value.is_nan() else value


def percent_of(base: Decimal, candidate: Decimal) -> Optional[float]:
    """Change in percent of |base|; None where the base is 0 or a side is infinite."""
    if base == 0 or not (base.is_finite() and candidate.is_finite()):
        return None
    return percent(EXACT.subtract(candidate, base), base.copy_abs())


def _renamed(base: Side, candidate: Side) -> Dict[str, str]:
    """Candidate name → base name of the operators that are one but for running numbers, where that is unique."""
    ours, theirs = set(base.operators), set(candidate.operators)
    by_form: Dict[str, Tuple[List[str], List[str]]] = {}
    for index, names in enumerate((sorted(ours - theirs), sorted(theirs - ours))):
        for name in names:
            by_form.setdefault(_RUNNING_NUMBER.sub("#", name), ([], []))[index].append(name)
    return {new[0]: old[0] for old, new in by_form.values() if len(old) == len(new) == 1}


def _row_key(row: SideRow, names: Dict[str, str]) -> Key:
    return (names.get(row.operator, row.operator), row.graph, row.result, row.group)


def _several(side: Side, names: Dict[str, str]) -> Set[str]:
    """Operators that have more than one row for a key, so that the input shape must tell them apart."""
    counts = Counter(_row_key(row, names) for row in side.rows)
    return {key[0] for key, count in counts.items() if count > 1}


def _grouped(side: Side, names: Dict[str, str], several: Set[str]) -> Dict[Key, List[SideRow]]:
    rows: Dict[Key, List[SideRow]] = {}
    for row in side.rows:
        key = _row_key(row, names)
        rows.setdefault((*key, row.shape) if key[0] in several else key, []).append(row)
    return rows


def _keyed(own: Dict[Key, List[SideRow]], other: Dict[Key, List[SideRow]]) -> Tuple[Dict[Key, SideRow], int]:
    """One row per key, and how many repeat one; repeated rows stay where the other side has as many of them.

    Those of one process after the other, or of one call after the other: the order of the sides tells them apart.
    """
    rows: Dict[Key, SideRow] = {}
    for key, found in own.items():
        kept = found if len(found) == len(other.get(key, ())) else found[:1]
        for number, row in enumerate(kept):
            rows[key if number == 0 else (*key, "", str(number))] = row
    return rows, sum(len(found) - 1 for found in own.values())


def _result_changes(base: Dict[Key, SideRow], candidate: Dict[Key, SideRow]) -> Iterator[Pair]:
    """Pairs what is left of a graph when the sides chose another result; takes the rows out of both."""
    places: Dict[Key, Tuple[List[Key], List[Key]]] = {}
    for index, rows in enumerate((base, candidate)):
        for key in rows:
            places.setdefault((*key[:2], *key[4:]), ([], []))[index].append(key)
    for ours, theirs in places.values():
        if ours and theirs and {key[2] for key in ours}.isdisjoint(key[2] for key in theirs):
            for old, new in zip(ours, theirs):
                yield Pair(base.pop(old), candidate.pop(new))


def _judged(pair: Pair, metrics: Sequence[str]) -> Optional[str]:
    wanted = metrics or ("Result Perf", "Objective Value")
    sides = (pair.base.cells, pair.candidate.cells)
    there = [metric for metric in wanted if any(metric in cells for cells in sides)]
    both = [metric for metric in there if all(metric in cells for cells in sides)]
    return next(iter(both or there), None)


def _differences(pair: Pair) -> Iterator[Difference]:
    base, candidate = pair.base, pair.candidate
    if base.result != candidate.result:
        yield Difference("template", "Result", base.result or None, candidate.result or None)
    if base.group != candidate.group:
        yield Difference("template", "Group", base.group or None, candidate.group or None)
    if base.template != candidate.template:
        yield Difference("template", "Case", base.template or None, candidate.template or None)
    names = sorted(set(base.cells) | set(candidate.cells), key=lambda name: (_rank(name), name))
    for name in names:
        if name not in _NOT_COMPARED:
            yield from _of_field(name, base.cells.get(name), candidate.cells.get(name))
    if base.shape != candidate.shape:
        yield Difference("other", "Input Shape", base.shape or None, candidate.shape or None)


def _of_field(name: str, base: Optional[str], candidate: Optional[str]) -> Iterator[Difference]:
    if base == candidate:
        return
    old, new = exact(base), exact(candidate)
    if old is not None and new is not None and (old == new or (old.is_nan() and new.is_nan())):
        return
    numeric = old is not None or new is not None
    kind = "metric" if is_metric(name) else ("tiling" if numeric else "other")
    if old is None or new is None or old.is_nan() or new.is_nan():
        yield Difference(kind, name, base, candidate)
    else:
        yield Difference(kind, name, base, candidate, EXACT.subtract(new, old), percent_of(old, new))


def _rank(name: str) -> int:
    if name in ("Result Perf", "Objective Value"):
        return 0
    return 1 if is_metric(name) else 2
