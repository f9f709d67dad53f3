"""Which dump of one run belongs to which of the other: by device, model and data index, then the k-th to the k-th.

Which models belong together is known from `models`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Iterable, Iterator, List, Optional, Sequence, Set, Tuple

from autofuse_nwa_precision.dumps.index import DumpFile, ModelKey
from autofuse_nwa_precision.models import ModelPairs, named

__all__ = ["Step", "paired_steps"]

_Pair = Tuple[Optional[DumpFile], Optional[DumpFile]]


@dataclass(frozen=True)
class Step:
    """The k-th dump of an operator in both runs; None where a run has no such dump."""

    number: int
    open: Optional[DumpFile]
    close: Optional[DumpFile]
    gap: str = ""
    """Why one of them is missing."""
    note: str = ""
    """What was assumed to pair them."""


def paired_steps(open_dumps: Sequence[DumpFile], close_dumps: Sequence[DumpFile], pairs: ModelPairs) -> List[Step]:
    """Every dump of either side once, in order; a dump without a counterpart makes a step of its own."""
    ours, theirs = _by_model(open_dumps), _by_model(close_dumps)
    steps: List[Step] = []
    used: Set[ModelKey] = set()
    for model, dumps in ours.items():
        candidates = [key for key in theirs if key not in used]
        other = pairs.counterpart(model, candidates if len(ours) == 1 else [])
        if other is not None:
            used.add(other)
        found = theirs.get(other, []) if other is not None else []
        note = pairs.assumption(model) if found else ""
        steps.extend(_numbered(_in_order(dumps, found), _model_gap(model, found, theirs), note))
    for model, dumps in theirs.items():
        if model not in used:
            steps.extend(_numbered(((None, dump) for dump in dumps), _no_dump(ours, model)))
    return steps


def _numbered(pairs: Iterable[_Pair], gap: str, note: str = "") -> Iterator[Step]:
    found = list(pairs)
    counts = [sum(pair[side] is not None for pair in found) for side in (0, 1)]
    for number, (a, b) in enumerate(found):
        reason = ""
        if a is None or b is None:
            reason = gap or f"the open run has {counts[0]} dumps of it, the close run {counts[1]}"
        yield Step(number, a, b, reason, "" if reason else note)


def _in_order(ours: Sequence[DumpFile], theirs: Sequence[DumpFile]) -> Iterator[_Pair]:
    """Pairs by data index where the runs share one, else by order alone."""
    mine, other = _by_data_index(ours), _by_data_index(theirs)
    shared = set(mine) & set(other)
    if (shared and "" not in shared) or set(mine) == set(other):
        for index in sorted(set(mine) | set(other), key=_numeric):
            yield from _in_threads(mine.get(index, []), other.get(index, []))
    elif len(mine) == 1 == len(other) or "" in mine or "" in other:
        yield from _in_threads(ours, theirs)
    else:
        yield from ((dump, None) for dump in ours)
        yield from ((None, dump) for dump in theirs)


def _in_threads(ours: Sequence[DumpFile], theirs: Sequence[DumpFile]) -> Iterator[_Pair]:
    """The k-th dump with the k-th, for each FFTS+ slice: slices run side by side, in no order between them."""
    mine, other = _by_thread(ours), _by_thread(theirs)
    for thread in sorted(set(mine) | set(other)):
        left, right = mine.get(thread, []), other.get(thread, [])
        for k in range(max(len(left), len(right))):
            yield left[k] if k < len(left) else None, right[k] if k < len(right) else None


def _no_dump(ours: Dict[ModelKey, List[DumpFile]], model: ModelKey) -> str:
    return f"the open run has no dump of it in {named(model)}" if ours else "the open run has no dump of it"


def _model_gap(model: ModelKey, found: Sequence[DumpFile], theirs: Dict[ModelKey, List[DumpFile]]) -> str:
    if found or not theirs:
        return "" if found else "the close run has no dump of it"
    held = ", ".join(named(key) for key in sorted(theirs))
    return f"the close run holds it in {held}, which is not known to be {named(model)} of the open run"


def _by_model(dumps: Sequence[DumpFile]) -> Dict[ModelKey, List[DumpFile]]:
    found: Dict[ModelKey, List[DumpFile]] = {}
    for dump in dumps:
        found.setdefault(dump.model, []).append(dump)
    # Numbers among the parts in their own order: device 2 before 10.
    return dict(sorted(found.items(), key=lambda item: [(len(part), part) for part in item[0]]))


def _by_data_index(dumps: Sequence[DumpFile]) -> Dict[str, List[DumpFile]]:
    found: Dict[str, List[DumpFile]] = {}
    for dump in sorted(dumps, key=lambda dump: (_numeric(dump.place.data_index), dump.order)):
        found.setdefault(dump.place.data_index, []).append(dump)
    return found


def _by_thread(dumps: Sequence[DumpFile]) -> Dict[int, List[DumpFile]]:
    found: Dict[int, List[DumpFile]] = {}
    for dump in sorted(dumps, key=lambda dump: (_numeric(dump.place.data_index), dump.order)):
        found.setdefault(dump.name.thread, []).append(dump)
    return found


def _numeric(data_index: str) -> int:
    return int(data_index) if data_index else -1
