"""What an engine hands over: sums, maxima and counts of one comparison, before they become measures.

Float sums are kept as mantissa and power of two, so that squares of 1e200 and of 1e-300 are ordinary numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, List, NamedTuple, Optional, Union

import numpy as np

from .model import Counts

__all__ = [
    "BINS",
    "BIN_SHIFT",
    "FIRST_BIN",
    "FIRST_OCTAVE",
    "SUB_BINS",
    "ExactSum",
    "Scaled",
    "Sums",
    "scaled_from_int",
    "scaled_product",
]

SUB_BINS = 32
"""Bins per octave of the relative error."""
FIRST_OCTAVE = -64
LAST_OCTAVE = 1
"""A relative error is at most 2: |a-b| <= 2 max(|a|,|b|)."""
BIN_SHIFT = 52 - 5
"""The bits of a double above this are its exponent and the first five bits of its mantissa: its bin."""
FIRST_BIN = (1023 + FIRST_OCTAVE) * SUB_BINS
BINS = 1 + (LAST_OCTAVE - FIRST_OCTAVE + 1) * SUB_BINS
"""Bin 0 holds what is below 2^-64, zeros included."""


class Scaled(NamedTuple):
    """The number mantissa * 2^exponent; the mantissa is 0 or in [0.5, 1) by size."""

    mantissa: float = 0.0
    exponent: int = 0


def scaled_product(value: float, exponent: int = 0) -> Scaled:
    """`value` * 2^`exponent` with its mantissa brought to [0.5, 1)."""
    mantissa, shift = math.frexp(value)
    return Scaled(mantissa, exponent + shift) if mantissa else Scaled()


def scaled_from_int(value: int) -> Scaled:
    """The integer rounded to 53 bits."""
    excess = max(value.bit_length() - 64, 0)
    # Division of integers rounds once; a shift would truncate first.
    return scaled_product(value / (1 << excess), excess)


class ExactSum:
    """A running sum of doubles times powers of two that rounds nothing: one integer in units of 2^-UNIT."""

    UNIT = 4400

    def __init__(self) -> None:
        self._total = 0

    def add(self, value: float, exponent: int = 0) -> None:
        """Adds `value` * 2^`exponent`; the value is finite."""
        numerator, denominator = value.as_integer_ratio()
        self._total += numerator << (self.UNIT + exponent - denominator.bit_length() + 1)

    def result(self) -> Scaled:
        """The sum rounded to 53 bits."""
        mantissa, exponent = scaled_from_int(self._total)
        return Scaled(mantissa, exponent - self.UNIT) if mantissa else Scaled()


@dataclass
class Sums:
    """The accumulated state of one comparison; flat indices are C-order positions in the plain tensor."""

    compared: int = 0
    dot: Scaled = field(default_factory=Scaled)
    square_a: Scaled = field(default_factory=Scaled)
    square_b: Scaled = field(default_factory=Scaled)
    square_diff: Scaled = field(default_factory=Scaled)
    total_diff: Scaled = field(default_factory=Scaled)
    """Sum of |a-b|."""
    max_diff: Union[int, float] = 0
    max_diff_at: Optional[int] = None
    max_rel: float = 0.0

    nonfinite_a: Counts = field(default_factory=Counts)
    nonfinite_b: Counts = field(default_factory=Counts)
    nonfinite_equal: Counts = field(default_factory=Counts)
    nan_mismatches: int = 0
    inf_mismatches: int = 0
    first_nan_mismatch: Optional[int] = None
    first_inf_mismatch: Optional[int] = None
    violations: int = 0
    """Of compared elements only."""

    bit_equal: bool = True
    max_ulp: int = 0
    zeros_b: int = 0
    equal: int = 0
    over_1_permille: int = 0
    over_5_permille: int = 0
    rtol_needed: float = 0.0
    bins: Union[List[int], np.ndarray[Any, Any]] = field(default_factory=lambda: np.zeros(BINS, np.int64))
