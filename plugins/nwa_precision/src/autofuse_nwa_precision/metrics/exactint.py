"""Sums over integer arrays without rounding: products of 64-bit integers in 32-bit halves, totals as Python integers.

Used by the numpy engine only; the native kernel has 128-bit arithmetic.
"""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np

__all__ = ["dot_product", "magnitude_difference", "total"]

Array = np.ndarray[Any, Any]

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def total(values: Array) -> int:
    """The sum of uint64 values; below 2^32 of them, halves cannot overflow."""
    values = values.astype(np.uint64, copy=False)
    return (int((values >> _HALF).sum(dtype=np.uint64)) << 32) + int((values & _LOW).sum(dtype=np.uint64))


def magnitude_difference(a: Array, b: Array) -> Tuple[Array, Array]:
    """|a-b| of integers of any type as (carry, low 64 bits): int64 against uint64 needs 65 bits."""
    negative_a, size_a = _sign_and_size(a)
    negative_b, size_b = _sign_and_size(b)
    added = size_a + size_b
    apart = np.maximum(size_a, size_b) - np.minimum(size_a, size_b)
    opposite = negative_a != negative_b
    return opposite & (added < size_a), np.where(opposite, added, apart)


def dot_product(a: Array, b: Array) -> int:
    """The exact sum of a*b."""
    if a.dtype.itemsize <= 2 and b.dtype.itemsize <= 2:
        # 16-bit products fit 32 bits, and a block has fewer than 2^31 elements.
        return int(np.dot(a.astype(np.int64), b.astype(np.int64)))
    negative_a, size_a = _sign_and_size(a)
    negative_b, size_b = _sign_and_size(b)
    opposite = negative_a != negative_b
    same = _product(size_a, size_b, ~opposite)
    return same - _product(size_a, size_b, opposite) if opposite.any() else same


def _sign_and_size(values: Array) -> Tuple[Array, Array]:
    negative = values < 0
    bits = values.astype(np.int64).view(np.uint64) if values.dtype.kind == "i" else values.astype(np.uint64)
    return negative, np.where(negative, ~bits + np.uint64(1), bits)


def _product(a: Array, b: Array, mask: Array) -> int:
    a, b = a[mask], b[mask]
    high_a, low_a, high_b, low_b = a >> _HALF, a & _LOW, b >> _HALF, b & _LOW
    result = total(low_a * low_b)
    if high_a.any() or high_b.any():
        result += ((total(high_a * low_b) + total(low_a * high_b)) << 32) + (total(high_a * high_b) << 64)
    return result
