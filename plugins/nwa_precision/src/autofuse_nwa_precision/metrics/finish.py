"""From the sums of an engine to the measures of a report: the formulas, written so that no intermediate overflows.

Both engines end here, so a measure has one definition.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Optional, Tuple

import numpy as np

from .model import PERCENTILE_FLOOR, Counts, Histogram, Metrics, Number, Worst
from .sums import FIRST_OCTAVE, SUB_BINS, Scaled, Sums, scaled_product

__all__ = ["EPSILON", "finish"]

EPSILON = 1e-8
"""Of the published cosine and relative error; it counts at the size of the tensors, before any scaling."""

ItemAt = Callable[[Tuple[int, ...]], Tuple[Number, Number]]


def finish(
    sums: Sums, shape: Tuple[int, ...], item_at: ItemAt, *, everything: bool, ulp: bool, tolerances: bool
) -> Metrics:
    """The measures of one comparison; `item_at` reads both sides at an index, `ulp`: the dtypes have that distance."""
    rated = sums.compared + sums.nan_mismatches + sums.inf_mismatches
    basic = _Basic(sums)
    metrics: dict[str, Any] = {
        "elements": math.prod(shape),
        "compared": sums.compared,
        **basic.measures(),
        "worst": _worst(sums, shape, item_at),
        "nonfinite_a": sums.nonfinite_a,
        "nonfinite_b": sums.nonfinite_b,
        "nonfinite_equal": sums.nonfinite_equal,
        "nan_mismatches": sums.nan_mismatches,
        "inf_mismatches": sums.inf_mismatches,
        "first_nan_mismatch": _unravel(sums.first_nan_mismatch, shape),
        "first_inf_mismatch": _unravel(sums.first_inf_mismatch, shape),
        "violations": sums.violations + rated - sums.compared if tolerances else None,
        **(_distribution(sums, rated, ulp) if everything else {}),
    }
    return Metrics(**metrics)


class _Basic:
    """The measures that come from sums and maxima; a mismatch takes part as IEEE arithmetic has it."""

    def __init__(self, sums: Sums) -> None:
        self.sums = sums
        self.inf_a = _infinite(sums.nonfinite_a) > _infinite(sums.nonfinite_equal)
        self.inf_b = _infinite(sums.nonfinite_b) > _infinite(sums.nonfinite_equal)
        self.poison: Optional[float] = None
        if sums.nan_mismatches:
            self.poison = math.nan
        elif sums.inf_mismatches:
            self.poison = math.inf

    def measures(self) -> dict[str, Any]:
        sums = self.sums
        rated = sums.compared or self.poison is not None
        bad = self.poison is not None
        return {
            "cosine": math.nan if bad else _published_cosine(sums),
            "max_abs": (self.poison if bad else sums.max_diff) if rated else None,
            "max_rel": (math.nan if bad else sums.max_rel) if rated else None,
            "cosine_scale_free": math.nan if bad else _scale_free_cosine(sums),
            "rel_l2": self._relative_l2(),
            "norm_ratio": self._norm_ratio(),
            "mean_abs": (self.poison if bad else _over_count(sums.total_diff, sums.compared)) if rated else None,
            "rmse": (self.poison if bad else _rms(sums)) if rated else None,
        }

    def _relative_l2(self) -> float:
        if self.poison is not None:
            return math.nan if self.inf_b else self.poison
        if not self.sums.square_b.mantissa:
            return math.inf if self.sums.square_diff.mantissa else 0.0
        return _root_of_ratio(self.sums.square_diff, self.sums.square_b)

    def _norm_ratio(self) -> Optional[float]:
        if self.poison is not None:
            if self.sums.nan_mismatches or (self.inf_a and self.inf_b):
                return math.nan
            return math.inf if self.inf_a else 0.0
        if not self.sums.square_b.mantissa:
            return math.inf if self.sums.square_a.mantissa else None
        return _root_of_ratio(self.sums.square_a, self.sums.square_b)


def _infinite(counts: Counts) -> int:
    return counts.pos_inf + counts.neg_inf


def _published_cosine(sums: Sums) -> float:
    norms = _root_of_product(sums.square_a, sums.square_b)
    dot = sums.dot
    if norms.exponent > -64 and norms.mantissa:
        # The epsilon shrinks with the norms; it never grows past the range of a double here.
        return _ldexp(dot.mantissa, dot.exponent - norms.exponent) / (norms.mantissa + _ldexp(EPSILON, -norms.exponent))
    return _ldexp(dot.mantissa / (_ldexp(*norms) + EPSILON), dot.exponent)


def _scale_free_cosine(sums: Sums) -> float:
    zero_a, zero_b = not sums.square_a.mantissa, not sums.square_b.mantissa
    if zero_a or zero_b:
        return 1.0 if zero_a and zero_b else 0.0
    norms = _root_of_product(sums.square_a, sums.square_b)
    cosine = _ldexp(sums.dot.mantissa / norms.mantissa, sums.dot.exponent - norms.exponent)
    return min(1.0, max(-1.0, cosine))


def _root_of_product(x: Scaled, y: Scaled) -> Scaled:
    # One root of the product, not a product of two roots: equal tensors then have cosine 1 exactly.
    mantissa, exponent = x.mantissa * y.mantissa, x.exponent + y.exponent
    if exponent % 2:
        mantissa, exponent = mantissa * 2, exponent - 1
    return scaled_product(math.sqrt(mantissa), exponent // 2)


def _root_of_ratio(x: Scaled, y: Scaled) -> float:
    mantissa, exponent = x.mantissa / y.mantissa, x.exponent - y.exponent
    if exponent % 2:
        mantissa, exponent = mantissa * 2, exponent - 1
    return _ldexp(math.sqrt(mantissa), exponent // 2)


def _over_count(total: Scaled, count: int) -> float:
    return _ldexp(total.mantissa / count, total.exponent)


def _rms(sums: Sums) -> float:
    return _root_of_ratio(sums.square_diff, scaled_product(float(sums.compared)))


def _ldexp(mantissa: float, exponent: int) -> float:
    try:
        return math.ldexp(mantissa, exponent)
    except OverflowError:
        return math.copysign(math.inf, mantissa)


def _worst(sums: Sums, shape: Tuple[int, ...], item_at: ItemAt) -> Optional[Worst]:
    for flat in (sums.first_nan_mismatch, sums.first_inf_mismatch, sums.max_diff_at):
        index = _unravel(flat, shape)
        if index is not None:
            return Worst(index, *item_at(index))
    return None


def _unravel(flat: Optional[int], shape: Tuple[int, ...]) -> Optional[Tuple[int, ...]]:
    if flat is None:
        return None
    index = []
    for extent in reversed(shape):
        flat, position = divmod(flat, extent)
        index.append(position)
    return tuple(reversed(index))


def _distribution(sums: Sums, rated: int, ulp: bool) -> dict[str, Any]:
    mismatches = rated - sums.compared
    return {
        "bit_equal": sums.bit_equal,
        "max_ulp": sums.max_ulp if ulp and sums.compared and not mismatches else None,
        "zeros_in_reference": sums.zeros_b,
        "equal": sums.equal,
        "p50_rel": _percentile(sums, rated, 50),
        "p99_rel": _percentile(sums, rated, 99),
        "over_1_permille": (sums.over_1_permille + mismatches) / rated if rated else None,
        "over_5_permille": (sums.over_5_permille + mismatches) / rated if rated else None,
        "rtol_needed": (math.inf if mismatches else sums.rtol_needed) if rated else None,
        "histogram": _histogram(sums),
    }


def _percentile(sums: Sums, rated: int, percent: int) -> Optional[float]:
    """The nearest-rank percentile, as the middle of the bin that holds it."""
    if not rated:
        return None
    rank = -(-rated * percent // 100)
    if rank > sums.compared:
        return math.inf
    if rank <= sums.equal:
        return 0.0
    bin_number = int(np.searchsorted(np.cumsum(sums.bins), rank))
    return min(_middle(bin_number), sums.max_rel)


def _middle(bin_number: int) -> float:
    if bin_number == 0:
        return PERCENTILE_FLOOR / 2
    octave, step = divmod(bin_number - 1, SUB_BINS)
    return math.ldexp(1 + (step + 0.5) / SUB_BINS, FIRST_OCTAVE + octave)


def _histogram(sums: Sums) -> Histogram:
    bins = np.asarray(sums.bins, np.int64)
    octaves = bins[1:].reshape(-1, SUB_BINS).sum(axis=1)
    filled = np.flatnonzero(octaves)
    below = int(bins[0]) - sums.equal
    if not len(filled):
        return Histogram(sums.equal, below)
    first, last = int(filled[0]), int(filled[-1])
    edges = tuple(math.ldexp(1.0, FIRST_OCTAVE + octave) for octave in range(first, last + 2))
    return Histogram(sums.equal, below, edges, tuple(int(count) for count in octaves[first : last + 1]))
