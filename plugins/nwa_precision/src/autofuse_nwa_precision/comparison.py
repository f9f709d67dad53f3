"""Compares the tensors of one pair and judges the result; whatever goes wrong ends in the status of this row alone."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any, Callable, List, Optional, Tuple, TypeVar

from autofuse_nwa_precision.alignment import Aligned, align
from autofuse_nwa_precision.converters import Converters, View
from autofuse_nwa_precision.dtypes import lower_precision
from autofuse_nwa_precision.dumps.load import Located, load, stored_as
from autofuse_nwa_precision.dumps.tensor import Tensor
from autofuse_nwa_precision.dumps.values import elements
from autofuse_nwa_precision.further import OtherRun, closer, within_noise
from autofuse_nwa_precision.graphs.model import TensorDesc
from autofuse_nwa_precision.metrics import Metrics, compare
from autofuse_nwa_precision.pairing import Pair
from autofuse_nwa_precision.rows import Row, Side
from autofuse_nwa_precision.statuses import (
    COMPUTE_ERROR,
    FORMAT_CONVERTED,
    INF_MISMATCH,
    NAN_MISMATCH,
    OK_EMPTY,
    SHAPE_FLATTENED,
    RowError,
    joined,
)
from autofuse_nwa_precision.tolerance import FAIL, MORE_ACCURATE, WITHIN_NOISE, Limits, Tolerances, judge

__all__ = ["Comparer", "measure"]

_LARGE = 1 << 22
"""Elements from which one pair gets all threads; smaller ones run beside each other with one each."""
_SAMPLE = 1 << 16
"""Elements that decide between axis orders."""

T = TypeVar("T")


@dataclass
class Comparer:
    """Everything that the comparison of a row needs besides the pair."""

    converters: Converters
    tolerances: Tolerances
    measures: str = "all"
    threads: int = 1
    noise: Optional[OtherRun] = None
    reference: Optional[OtherRun] = None
    _alone: threading.Lock = field(default_factory=threading.Lock)

    def row(self, pair: Pair) -> Row:
        """The row of a pair."""
        row = Row(pair, pair.status, pair.reason)
        row.open, row.close = _unread(pair.open, pair.open_desc), _unread(pair.close, pair.close_desc)
        try:
            if pair.open is None or pair.close is None or pair.status:
                row.open, row.close = _described(row.open, pair.open), _described(row.close, pair.close)
            else:
                self._compare(row, pair.open, pair.close)
        except RowError as error:
            _give_up(row, error)
        except Exception as error:
            # A fault in one row, whatever it is, must not cost the user all the others; it is told, and fails the run.
            _give_up(row, RowError(COMPUTE_ERROR, f"{type(error).__name__}: {' '.join(str(error).split())}"))
        return row

    def _compare(self, row: Row, open_at: Located, close_at: Located) -> None:
        a, error_a = _tried(lambda: load(open_at))
        b, error_b = _tried(lambda: load(close_at))
        row.open, row.close = _side(row.open, open_at, a), _side(row.close, close_at, b)
        if a is None or b is None:
            raise _both(error_a, error_b)
        row.type = lower_precision(a.type, b.type)
        limits = self.tolerances.limits((row.pair.fused.name, row.pair.origin_name), row.type)
        if a.array.size == 0 and b.array.size == 0:
            aligned = align(a, b, self.converters)
            row.status, row.verdict, row.compared_shape = OK_EMPTY, "pass", tuple(aligned.b.shape)
            row.reason = _sentence(row.reason, "both tensors are empty")
            return
        metrics, parts, notes, row.compared_shape = self.measure(a, b, limits)
        row.metrics = metrics
        row.verdict, why = judge(metrics, limits)
        row.status = joined([*parts, *_mismatches(metrics)])
        row.reason = _sentence(row.reason, *notes, why, _nothing_finite(metrics))
        self._excuse(row, a, b, limits, close_at)

    def measure(self, a: Tensor, b: Tensor, limits: Limits) -> Tuple[Metrics, List[str], List[str], Tuple[int, ...]]:
        """Measures of two tensors, what was done to compare them, notes, and the shape they were compared in."""
        aligned = align(a, b, self.converters)
        if aligned.alternatives:
            _choose_order(aligned)
        metrics = self._measured(aligned.a, aligned.b, limits)
        return metrics, aligned.parts, aligned.notes, tuple(aligned.b.shape)

    def aligned(self, pair: Pair) -> Aligned:
        """The two tensors of a compared pair again; RowError when the files have changed."""
        assert pair.open is not None
        assert pair.close is not None
        found = align(load(pair.open), load(pair.close), self.converters)
        if found.alternatives:
            _choose_order(found)
        return found

    def _measured(self, a: View, b: View, limits: Limits) -> Metrics:
        if elements(tuple(b.shape)) < _LARGE or self.threads == 1:
            return measure(a, b, limits, self.measures, 1)
        with self._alone:
            return measure(a, b, limits, self.measures, self.threads)

    def _excuse(self, row: Row, a: Tensor, b: Tensor, limits: Limits, close_at: Located) -> None:
        """What a noise run and a reference run change about the verdict."""
        if self.noise:
            noise = self._distance(self._other(self.noise, close_at, row.pair), b, limits)
            row.noise_rel_l2 = noise.rel_l2 if noise else None
            if row.verdict == FAIL and row.metrics and noise and within_noise(row.metrics, noise):
                row.verdict = WITHIN_NOISE
        if self.reference:
            other = self._other(self.reference, close_at, row.pair)
            fused, unfused = self._distance(a, other, limits), self._distance(b, other, limits)
            row.reference_open = fused.rel_l2 if fused else None
            row.reference_close = unfused.rel_l2 if unfused else None
            if fused and unfused and closer(fused, unfused):
                row.verdict = MORE_ACCURATE

    def _other(self, run: OtherRun, close_at: Located, pair: Pair) -> Optional[Tensor]:
        located, _ = _tried(lambda: run.dump_for(close_at, pair.origin_type, pair.origin_name))
        return _tried(lambda: load(located))[0] if located else None

    def _distance(self, a: Optional[Tensor], b: Optional[Tensor], limits: Limits) -> Optional[Metrics]:
        """The measures of one tensor against another; None where they cannot be had."""
        if a is None or b is None:
            return None
        result, _ = _tried(lambda: self.measure(a, b, limits))
        return result[0] if result else None


def measure(a: View, b: View, limits: Limits, measures: str, threads: int) -> Metrics:
    """The measures of two aligned views; RowError COMPUTE_ERROR when they cannot be computed."""
    rtol, atol = limits.elementwise or (None, None)
    try:
        return compare(a, b, measures=measures, rtol=rtol, atol=atol, threads=threads)
    except (TypeError, ValueError, ArithmeticError, MemoryError) as error:
        raise RowError(COMPUTE_ERROR, " ".join(str(error).split()) or type(error).__name__) from error


def _give_up(row: Row, error: RowError) -> None:
    row.status, row.reason, row.metrics, row.verdict = error.status, error.reason, None, None


def _choose_order(aligned: Aligned) -> None:
    """Compares the tensors in each order that is possible, and keeps and names the one in which they are closest."""
    no_limits = Limits()
    sampled = [
        (_rank(measure(*_sampled(a, b), no_limits, "basic", 1)), a, b, axes) for a, b, axes in aligned.alternatives
    ]
    best = min(rank for rank, *_ in sampled)
    rated = [entry for entry in sampled if entry[0] == best]
    if len(rated) > 1:
        # The sample does not decide: take all of the tensors.
        rated = [(_rank(measure(a, b, no_limits, "basic", 1)), a, b, axes) for _, a, b, axes in rated]
    _, aligned.a, aligned.b, axes = min(rated, key=lambda entry: entry[0])
    aligned.parts.append(FORMAT_CONVERTED if axes else SHAPE_FLATTENED)
    verb = "fit" if axes.startswith("axes") else "fits"
    tried = f"{verb} best of {len(sampled)} orders of the elements that the shapes allow"
    aligned.notes.append(f"{axes or 'the order as stored'} {tried}")


def _rank(metrics: Metrics) -> Tuple[int, float]:
    return metrics.mismatches, metrics.rel_l2 if metrics.rel_l2 == metrics.rel_l2 else float("inf")


def _sampled(a: Any, b: Any) -> Tuple[View, View]:
    """The same corner of both tensors."""
    extents = list(b.shape)
    while elements(tuple(extents)) > _SAMPLE:
        largest = extents.index(max(extents))
        extents[largest] = (extents[largest] + 1) // 2
    corner = tuple(slice(0, extent) for extent in extents)
    return a[corner], b[corner]


def _nothing_finite(metrics: Metrics) -> str:
    if metrics.compared or metrics.mismatches:
        return ""
    return "no element is finite on both sides: only their places were compared"


def _mismatches(metrics: Metrics) -> List[str]:
    found = [NAN_MISMATCH] if metrics.nan_mismatches else []
    return [*found, INF_MISMATCH] if metrics.inf_mismatches else found


def _tried(call: Callable[[], T]) -> Tuple[Optional[T], Optional[RowError]]:
    try:
        return call(), None
    except RowError as error:
        return None, error


def _both(error_a: Optional[RowError], error_b: Optional[RowError]) -> RowError:
    """The first error; the reason tells both."""
    named = [(label, error) for label, error in (("open", error_a), ("close", error_b)) if error]
    reasons = [f"the {label} dump: {error.reason}" for label, error in named]
    return RowError(named[0][1].status, "; ".join(reasons))


def _unread(located: Optional[Located], desc: TensorDesc) -> Side:
    """What the graph promises of a tensor that has not been read."""
    return Side(located.path if located else "", desc.dtype.name if desc.dtype else "", desc.shape, desc.layout)


def _side(before: Side, located: Located, tensor: Optional[Tensor]) -> Side:
    """What the file holds, or at least says, where its values could not be read."""
    if tensor is None:
        return _described(before, located)
    return Side(before.path, tensor.type.name, tuple(tensor.array.shape), tensor.layout)


def _described(before: Side, located: Optional[Located]) -> Side:
    """What the file's header says; what the graph promises where it says nothing."""
    stored = stored_as(located) if located else None
    if stored is None:
        return before
    return Side(before.path, stored.dtype or before.dtype, stored.shape, stored.layout or before.layout)


def _sentence(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
