"""What a comparison of two tensors gives: every measure of the precision report, as plain Python values.

`a` is the side under test (fused), `b` the reference (original). How the measures are computed is left to the engines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple, Union

__all__ = ["PERCENTILE_ERROR", "PERCENTILE_FLOOR", "Counts", "Histogram", "Metrics", "Number", "Worst"]

Number = Union[int, float, complex, bool]

PERCENTILE_ERROR = 1 / 64
"""P50 and P99 of the relative error come from bins of 1/32 octave: the estimate is off by at most this share."""
PERCENTILE_FLOOR = 2.0**-64
"""Relative errors below this share one bin; there the estimate is off by at most this much."""


@dataclass(frozen=True)
class Counts:
    """Non-finite elements of `a`, of `b`, or of both at equal places. A complex infinity has no sign: `pos_inf`."""

    nan: int = 0
    pos_inf: int = 0
    neg_inf: int = 0

    @property
    def total(self) -> int:
        """All non-finite elements."""
        return self.nan + self.pos_inf + self.neg_inf


@dataclass(frozen=True)
class Histogram:
    """Relative errors of the compared elements by octave: `counts[i]` lie in [`edges[i]`, `edges[i + 1]`)."""

    equal: int
    """Elements without any error."""
    below: int
    """Elements with an error below 2^-64."""
    edges: Tuple[float, ...] = ()
    """Powers of two from the first octave that holds an element to behind the last; empty when none does."""
    counts: Tuple[int, ...] = ()


@dataclass(frozen=True)
class Worst:
    """The element with the largest |a-b|, the first of equals.

    A NaN mismatch is worse than an Inf mismatch, and both are worse than any number.
    """

    index: Tuple[int, ...]
    """Index in the tensor as compared (the plain layout)."""
    a: Number
    b: Number


@dataclass(frozen=True)
class Metrics:
    """All measures of one pair. None: not asked for (`measures="basic"`), not defined for the dtype, or no element to
    take it from. Positions where both sides hold the same non-finite value are left out of everything but their counts;
    a mismatch makes the sums and maxima nan or inf, as the arithmetic has it."""

    elements: int
    """Elements of each tensor."""
    compared: int
    """Elements where both sides are finite."""

    cosine: float
    """dot(a,b) / (|a||b| + 1e-8), the published formula; complex: the real part of the dot product."""
    max_abs: Optional[Union[int, float]]
    """max |a-b|; an exact int for integers."""
    max_rel: Optional[float]
    """max of |a-b| / (max(|a|,|b|) + 1e-8), the published formula."""

    cosine_scale_free: float
    """dot(a,b) / (|a||b|) in [-1, 1]; 1 when both norms are zero, 0 when one is."""
    rel_l2: float
    """|a-b| / |b|; with a zero reference 0 when `a` is zero too, else inf."""
    norm_ratio: Optional[float]
    """|a| / |b|; inf over a zero reference, None when both are zero."""
    mean_abs: Optional[float]
    rmse: Optional[float]
    worst: Optional[Worst]
    """None when no element differs."""

    nonfinite_a: Counts
    nonfinite_b: Counts
    nonfinite_equal: Counts
    """Positions where both sides hold the same non-finite value."""
    nan_mismatches: int
    """Positions where one side is NaN and the other is not."""
    inf_mismatches: int
    """Positions where one side is infinite and the other is a number or the other infinity."""
    first_nan_mismatch: Optional[Tuple[int, ...]]
    first_inf_mismatch: Optional[Tuple[int, ...]]

    violations: Optional[int] = None
    """Elements for which |a-b| <= atol + rtol |b| does not hold; None when neither rtol nor atol is given."""

    bit_equal: Optional[bool] = None
    """Same dtype (byte order aside) and the same bits everywhere; -0 and 0 differ."""
    max_ulp: Optional[int] = None
    """Largest distance in representable values (fp16, bf16, fp32, fp64); None for other dtypes or a mismatch."""
    zeros_in_reference: Optional[int] = None
    equal: Optional[int] = None
    """Compared elements of equal value."""
    p50_rel: Optional[float] = None
    """Median of the relative error of `max_rel`; see PERCENTILE_ERROR. Mismatches count as infinite errors."""
    p99_rel: Optional[float] = None
    over_1_permille: Optional[float] = None
    """Share of elements whose relative error is above 1e-3; mismatches are."""
    over_5_permille: Optional[float] = None
    rtol_needed: Optional[float] = None
    """The smallest rtol with which no element violates at the atol in force (0 unless given); inf when none will do."""
    histogram: Optional[Histogram] = None

    @property
    def mismatches(self) -> int:
        """NaN and Inf mismatches together: a row with any fails."""
        return self.nan_mismatches + self.inf_mismatches
