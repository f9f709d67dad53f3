"""The numpy engine: every sum, maximum and count of a comparison in blocks; the native kernel is held to it.

It needs no compiler and keeps its memory independent of the tensors; pairing the tensors is left to `pieces`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Iterable, Iterator, NamedTuple, Optional, Tuple

import numpy as np

from .exactint import dot_product, magnitude_difference, total
from .finish import EPSILON
from .model import Counts
from .pieces import Piece
from .sums import BIN_SHIFT, BINS, FIRST_BIN, ExactSum, Sums, scaled_from_int
from .values import Code, Element, decode

__all__ = ["Request", "accumulate"]

Array = np.ndarray[Any, Any]

BLOCK = 1 << 15
"""Elements per block: small enough that a block's float64 arrays stay in the cache."""
HUGE = 2.0**1000
"""Above this |a-b| may overflow although |a-b| / |a| does not; such elements are taken at 1/16 of their size."""


@dataclass(frozen=True)
class Request:
    """What to compute of a pair of element types."""

    a: Element
    b: Element
    everything: bool
    rtol: Optional[float]
    atol: Optional[float]

    @property
    def family(self) -> str:
        """`int` when both sides are, `complex` when one side is, else `real`."""
        families = {self.a.family, self.b.family}
        return "complex" if "complex" in families else "int" if families == {"int"} else "real"

    @property
    def tolerances(self) -> bool:
        """True when the elementwise rule |a-b| <= atol + rtol |b| is asked for."""
        return self.rtol is not None or self.atol is not None

    @property
    def same_type(self) -> bool:
        """True when both sides are the same type, byte order aside."""
        return self.a.code is self.b.code and bool(self.a.native == self.b.native)

    @property
    def ulp(self) -> bool:
        """True when, besides, the type has a distance in representable values."""
        return self.same_type and self.a.code in (Code.F16, Code.BF16, Code.F32, Code.F64)


def accumulate(parts: Iterable[Piece], request: Request) -> Sums:
    """The sums over all pieces of one comparison."""
    state = _State(request)
    with np.errstate(all="ignore"):
        for part in parts:
            for block in _blocks(part):
                state.add(block)
    return state.result()


class _Block(NamedTuple):
    a: Array
    b: Array
    part: Piece
    origin: Tuple[int, ...]

    def flat_index(self, position: int) -> int:
        """Place in the plain tensor of the block's element at a C-order position."""
        place = np.unravel_index(position, self.a.shape)
        index = (int(start) + int(step) for start, step in zip(self.origin, place))
        return self.part.base + sum(step * at for step, at in zip(self.part.steps, index))


def _blocks(part: Piece, origin: Tuple[int, ...] = ()) -> Iterator[_Block]:
    axis = len(origin)
    a, b = part.a[origin], part.b[origin]
    if a.size <= BLOCK or axis == part.a.ndim:
        if a.size:
            yield _Block(np.asarray(a), np.asarray(b), part, (*origin, *(0,) * (part.a.ndim - axis)))
        return
    rows = BLOCK // math.prod(a.shape[1:])
    for start in range(0, a.shape[0], max(rows, 1)):
        if rows > 1 or a.ndim == 1:
            window = slice(start, start + rows)
            yield _Block(a[window], b[window], part, (*origin, start, *(0,) * (a.ndim - 1)))
        else:
            yield from _blocks(part, (*origin, start))


class _State:
    """Sums in the making: one `add` per block."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.sums = Sums()
        self.bins = np.zeros(BINS, np.int64)
        self.floats = {name: ExactSum() for name in _SUM_NAMES}
        self.integers = dict.fromkeys(_SUM_NAMES, 0)

    def add(self, block: _Block) -> None:
        if self.request.everything:
            self._bits(block)
        a, b = np.ravel(decode(block.a)), np.ravel(decode(block.b))
        if self.request.everything:
            self.sums.zeros_b += int(np.count_nonzero(b == 0))
        if self.request.family == "int":
            self._integers(a, b, block)
            return
        kind = np.complex128 if self.request.family == "complex" else np.float64
        a, b = a.astype(kind), b.astype(kind)
        keep = self._nonfinite(a, b, block)
        if keep is not None:
            a, b = np.where(keep, a, 0), np.where(keep, b, 0)
        self._floats(a, b, keep, block)

    def result(self) -> Sums:
        sums = self.sums
        integral = self.request.family == "int"
        for name in _SUM_NAMES:
            exact = scaled_from_int(self.integers[name]) if integral else self.floats[name].result()
            setattr(sums, name, exact)
        sums.bins = self.bins
        return sums

    def _bits(self, block: _Block) -> None:
        first, second = self.request.a, self.request.b
        if not self.request.same_type:
            self.sums.bit_equal = False
            return
        a, b = _raw(block.a, first), _raw(block.b, second)
        if self.sums.bit_equal:
            self.sums.bit_equal = bool(np.array_equal(a, b))
        if self.request.ulp:
            self.sums.max_ulp = max(self.sums.max_ulp, _max_ulp(a, b, first.code))

    def _nonfinite(self, a: Array, b: Array, block: _Block) -> Optional[Array]:
        """Counts non-finite elements; the mask of the elements to compare, or None for all."""
        both_finite = np.isfinite(a) & np.isfinite(b)
        if both_finite.all():
            self.sums.compared += a.size
            return None
        sums = self.sums
        sums.compared += int(np.count_nonzero(both_finite))
        kinds_a, kinds_b = _kinds(a), _kinds(b)
        sums.nonfinite_a = _plus(sums.nonfinite_a, kinds_a)
        sums.nonfinite_b = _plus(sums.nonfinite_b, kinds_b)
        nan_a, nan_b = kinds_a[0], kinds_b[0]
        same = a == b
        sums.nonfinite_equal = _plus(
            sums.nonfinite_equal, (nan_a & nan_b, *(kinds_a[sign] & kinds_b[sign] & same for sign in (1, 2)))
        )
        count, first = _first(nan_a != nan_b, block)
        sums.nan_mismatches += count
        sums.first_nan_mismatch = _lower(sums.first_nan_mismatch, first)
        count, first = _first(~both_finite & ~nan_a & ~nan_b & ~same, block)
        sums.inf_mismatches += count
        sums.first_inf_mismatch = _lower(sums.first_inf_mismatch, first)
        return both_finite

    def _floats(self, a: Array, b: Array, keep: Optional[Array], block: _Block) -> None:
        diff = a - b
        size = _modulus(diff)
        self._float_sums(a, b, diff, size)
        self._worst(size, block)
        larger = np.maximum(_modulus(a), _modulus(b))
        scale = np.where(larger > HUGE, 0.0625, 1.0)
        if (scale != 1).any() or not np.isfinite(larger).all():
            size, larger = _modulus(a * scale - b * scale), np.maximum(_modulus(a * scale), _modulus(b * scale))
        self._elementwise(size, larger, _modulus(b * scale), scale, keep)

    def _float_sums(self, a: Array, b: Array, diff: Array, size: Array) -> None:
        a, power_a = _unit(a)
        b, power_b = _unit(b)
        finite = np.isfinite(size).all()
        # Where a-b itself is too large for a double, it is taken from the scaled sides.
        power = max(power_a, power_b)
        diff, power_d = _unit(diff) if finite else (_ldexp(a, power_a - power) - _ldexp(b, power_b - power), power)
        sums = self.floats
        sums["dot"].add(_inner(a, b), power_a + power_b)
        sums["square_a"].add(_inner(a, a), 2 * power_a)
        sums["square_b"].add(_inner(b, b), 2 * power_b)
        sums["square_diff"].add(_inner(diff, diff), 2 * power_d)
        sums["total_diff"].add(float(_modulus(diff).sum()), power_d)

    def _integers(self, a: Array, b: Array, block: _Block) -> None:
        self.sums.compared += a.size
        high, size = magnitude_difference(a, b)
        sums = self.integers
        sums["dot"] += dot_product(a, b)
        sums["square_a"] += dot_product(a, a)
        sums["square_b"] += dot_product(b, b)
        sums["square_diff"] = sums["square_a"] + sums["square_b"] - 2 * sums["dot"]
        sums["total_diff"] += total(size) + (int(np.count_nonzero(high)) << 64)
        position = int(np.argmax(size if not high.any() else np.where(high, size, 0)))
        largest = int(size[position]) + (int(high[position]) << 64)
        if not largest and high.any():
            position = int(np.argmax(high))
            largest = 1 << 64
        self._keep_worst(largest, position, block)
        floats = size.astype(np.float64) + np.where(high, 2.0**64, 0.0)
        size_b = _magnitude(b)
        self._elementwise(floats, np.maximum(_magnitude(a), size_b), size_b, np.float64(1), None)

    def _worst(self, size: Array, block: _Block) -> None:
        position = int(np.argmax(size))
        self._keep_worst(float(size[position]), position, block)

    def _keep_worst(self, largest: Any, position: int, block: _Block) -> None:
        sums = self.sums
        if largest < sums.max_diff or not largest:
            return
        at = block.flat_index(position)
        if largest > sums.max_diff or (sums.max_diff_at is not None and at < sums.max_diff_at):
            sums.max_diff, sums.max_diff_at = largest, at

    def _elementwise(self, size: Array, larger: Array, size_b: Array, scale: Any, keep: Optional[Array]) -> None:
        """Relative errors and the elementwise rule; excluded elements are zero on both sides and break no rule."""
        rel = size / (larger + EPSILON * scale)
        self.sums.max_rel = max(self.sums.max_rel, float(rel.max()))
        request = self.request
        atol, rtol = request.atol or 0.0, request.rtol or 0.0
        if request.tolerances:
            self.sums.violations += int(np.count_nonzero(~(size <= atol * scale + rtol * size_b)))
        if request.everything:
            self._distribution(rel, size, keep)
            limits = np.broadcast_to(atol * scale, size.shape)
            self.sums.rtol_needed = _rtol_needed(size, limits, size_b, self.sums.rtol_needed)

    def _distribution(self, rel: Array, size: Array, keep: Optional[Array]) -> None:
        if keep is not None:
            rel, size = rel[keep], size[keep]
        self.sums.equal += int(np.count_nonzero(size == 0))
        self.sums.over_1_permille += int(np.count_nonzero(rel > 1e-3))
        self.sums.over_5_permille += int(np.count_nonzero(rel > 5e-3))
        numbers = (rel.view(np.int64) >> BIN_SHIFT) - (FIRST_BIN - 1)
        self.bins += np.bincount(np.clip(numbers, 0, BINS - 1), minlength=BINS)


_SUM_NAMES = ("dot", "square_a", "square_b", "square_diff", "total_diff")


def _raw(array: Array, kind: Element) -> Array:
    """The bits as unsigned integers in this machine's byte order (16-byte elements as pairs)."""
    native = np.ascontiguousarray(array.astype(kind.native) if kind.swapped else array).reshape(-1)
    width = min(native.dtype.itemsize, 8)
    bits: Array = native.view(f"u{width}")
    return bits


def _max_ulp(a: Array, b: Array, code: Code) -> int:
    """Largest distance in representable values between finite elements; both zeros are one value."""
    width = a.dtype.itemsize * 8
    sign, infinity = 1 << (width - 1), _INFINITY_BITS[code]
    size_a, size_b = (x & a.dtype.type(sign - 1) for x in (a, b))
    finite = (size_a < infinity) & (size_b < infinity)
    size_a, size_b = size_a.astype(np.uint64), size_b.astype(np.uint64)
    same_side = ((a ^ b) >> a.dtype.type(width - 1)) == 0
    apart = np.where(same_side, np.maximum(size_a, size_b) - np.minimum(size_a, size_b), size_a + size_b)
    return int(apart[finite].max()) if finite.any() else 0


_INFINITY_BITS = {Code.F16: 0x7C00, Code.BF16: 0x7F80, Code.F32: 0x7F800000, Code.F64: 0x7FF0000000000000}


def _kinds(values: Array) -> Tuple[Array, Array, Array]:
    """Where the values are NaN, +Inf, -Inf."""
    nan, infinite = np.isnan(values), np.isinf(values)
    infinite &= ~nan
    if np.iscomplexobj(values):
        return nan, infinite, np.zeros_like(nan)
    return nan, infinite & (values > 0), infinite & (values < 0)


def _plus(counts: Counts, masks: Iterable[Array]) -> Counts:
    nan, pos_inf, neg_inf = (int(np.count_nonzero(mask)) for mask in masks)
    return Counts(counts.nan + nan, counts.pos_inf + pos_inf, counts.neg_inf + neg_inf)


def _first(mask: Array, block: _Block) -> Tuple[int, Optional[int]]:
    count = int(np.count_nonzero(mask))
    return count, block.flat_index(int(np.argmax(mask))) if count else None


def _lower(x: Optional[int], y: Optional[int]) -> Optional[int]:
    return y if x is None else x if y is None else min(x, y)


def _modulus(values: Array) -> Array:
    """|x|; of complex numbers as larger * sqrt(1 + (smaller / larger)^2), which overflows only where |x| does."""
    if not np.iscomplexobj(values):
        return np.abs(values)
    real, imag = np.abs(values.real), np.abs(values.imag)
    larger, smaller = np.maximum(real, imag), np.minimum(real, imag)
    ratio = smaller / np.where(larger == 0, 1.0, larger)
    size: Array = larger * np.sqrt(1.0 + ratio * ratio)
    return size


def _magnitude(values: Array) -> Array:
    """|x| of integers as float64; the magnitude of the smallest int64 is exact as well."""
    return np.abs(values.astype(np.float64))


def _unit(values: Array) -> Tuple[Array, int]:
    """The values divided by the power of two that brings the largest near 1, and that power."""
    parts = values.view(np.float64)
    largest = float(np.abs(parts).max())
    power = math.frexp(largest)[1]
    return _ldexp(values, -power), power


def _ldexp(values: Array, power: int) -> Array:
    scaled: Array = np.ldexp(np.ascontiguousarray(values).view(np.float64), power).view(values.dtype)
    return scaled


def _inner(a: Array, b: Array) -> float:
    """The real part of the inner product."""
    return float(np.dot(a.view(np.float64), b.view(np.float64)))


def _rtol_needed(size: Array, atol: Array, size_b: Array, rtol: float) -> float:
    """The smallest r >= `rtol` with size <= atol + r size_b everywhere, in the very arithmetic of that rule."""
    while True:
        bad = np.flatnonzero(~(size <= atol + rtol * size_b))
        if math.isinf(rtol) or not len(bad):
            return rtol
        worst = bad[np.argmax((size[bad] - atol[bad]) / size_b[bad])]
        rtol = _smallest_rtol(float(size[worst]), float(atol[worst]), float(size_b[worst]))


def _smallest_rtol(size: float, atol: float, size_b: float) -> float:
    """Bisection over the bit patterns of positive doubles, which are ordered like the doubles."""
    low, high = 0, 0x7FEFFFFFFFFFFFFF
    if not size <= atol + _from_bits(high) * size_b:
        return math.inf
    while low < high:
        middle = (low + high) // 2
        if size <= atol + _from_bits(middle) * size_b:
            high = middle
        else:
            low = middle + 1
    return _from_bits(low)


def _from_bits(bits: int) -> float:
    return float(np.int64(bits).view(np.float64))
