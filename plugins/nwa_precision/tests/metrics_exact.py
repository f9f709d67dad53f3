"""What the engines are tested with: the measures in exact arithmetic, random tensors of every type, comparison."""

from __future__ import annotations

import dataclasses
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from autofuse_nwa_precision.metrics import COMPLEX32, FLOAT4_E1M2, HIFLOAT8, compare, native_engine

needs_native = pytest.mark.skipif(native_engine() is None, reason="the native kernel is not compiled")
engines = pytest.mark.parametrize("engine", ["numpy", pytest.param("native", marks=needs_native)])

FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
SMALL_FLOATS = [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float4_e2m1fn, HIFLOAT8, FLOAT4_E1M2]
INTS = [np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, ml_dtypes.int4]
COMPLEX = [np.complex64, np.complex128, COMPLEX32]
ALL = [*FLOATS, *SMALL_FLOATS, *INTS, *COMPLEX]

EPSILON = Fraction(1e-8)


def parts(value):
    """A number as exact real and imaginary part; None for what is not finite."""
    value = complex(value) if isinstance(value, complex) else (value, 0)
    pair = (value.real, value.imag) if isinstance(value, complex) else value
    if any(isinstance(x, float) and not math.isfinite(x) for x in pair):
        return None
    return Fraction(pair[0]), Fraction(pair[1])


def square(x):
    return x[0] * x[0] + x[1] * x[1]


def minus(x, y):
    return x[0] - y[0], x[1] - y[1]


def root(fraction):
    """The square root as a Decimal of 80 digits."""
    with localcontext() as context:
        context.prec = 80
        context.Emax, context.Emin = 999999, -999999
        return (Decimal(fraction.numerator) / Decimal(fraction.denominator)).sqrt()


def decimal(fraction):
    with localcontext() as context:
        context.prec = 80
        context.Emax, context.Emin = 999999, -999999
        return Decimal(fraction.numerator) / Decimal(fraction.denominator)


def to_float(number):
    """The nearest double, inf where it is too large."""
    try:
        return float(number)
    except OverflowError:
        return math.copysign(math.inf, number)


class Exact:
    """All pairs of finite elements of two sequences of Python numbers."""

    def __init__(self, a, b):
        pairs = [(parts(x), parts(y)) for x, y in zip(a, b)]
        self.pairs = [(x, y) for x, y in pairs if x is not None and y is not None]
        self.dot = sum((x[0] * y[0] + x[1] * y[1] for x, y in self.pairs), Fraction(0))
        self.terms = sum((abs(x[0] * y[0]) + abs(x[1] * y[1]) for x, y in self.pairs), Fraction(0))
        self.square_a = sum((square(x) for x, _ in self.pairs), Fraction(0))
        self.square_b = sum((square(y) for _, y in self.pairs), Fraction(0))
        self.square_diff = sum((square(minus(x, y)) for x, y in self.pairs), Fraction(0))
        self.diffs = [root(square(minus(x, y))) for x, y in self.pairs]

    def cosine(self, epsilon=EPSILON):
        """The cosine and how far from it a sum with relative error 1e-12 of its absolute terms may be."""
        with localcontext() as context:
            context.prec = 80
            context.Emax, context.Emin = 999999, -999999
            norms = root(self.square_a) * root(self.square_b) + decimal(epsilon)
            return decimal(self.dot) / norms, decimal(self.terms) / norms * Decimal("1e-12")

    def max_abs(self):
        return to_float(max(self.diffs))

    def mean_abs(self):
        with localcontext() as context:
            context.Emax, context.Emin = 999999, -999999
            return to_float(sum(self.diffs, Decimal(0)) / len(self.diffs))

    def rmse(self):
        return to_float(root(self.square_diff / len(self.pairs)))

    def relative_l2(self):
        return to_float(root(self.square_diff / self.square_b))

    def relative_errors(self):
        """|a-b| / (max(|a|,|b|) + 1e-8) of every pair."""
        with localcontext() as context:
            context.Emax, context.Emin = 999999, -999999
            return [
                to_float(diff / (max(root(square(x)), root(square(y))) + decimal(EPSILON)))
                for diff, (x, y) in zip(self.diffs, self.pairs)
            ]


def ulp_distance(x, y):
    """Steps between two finite numpy floats of one type, through zero if need be."""
    width = x.dtype.itemsize * 8
    place = []
    for value in (x, y):
        bits = int(np.array([value]).view(f"u{width // 8}")[0])
        size = bits & ((1 << (width - 1)) - 1)
        place.append(-size if bits >> (width - 1) else size)
    return abs(place[0] - place[1])


def near(actual, expected, tolerance=1e-12):
    """Equal up to the tolerance; results that float64 can hold are finite."""
    if math.isinf(expected) or expected == 0:
        return actual == expected or (expected == 0 and abs(actual) < 5e-323)
    return abs(actual - expected) <= tolerance * abs(expected) + 5e-323


def random_bits(rng, dtype, shape):
    """An array of any element type with any bit pattern, non-finite ones included."""
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    raw = rng.integers(0, 256, (*shape, dtype.itemsize), dtype=np.uint8)
    return np.ascontiguousarray(raw).view(dtype).reshape(shape)


def pair_of(rng, dtype_a, dtype_b, shape, share=0.5):
    """Two arrays; where the types agree, a share of the elements is equal."""
    a, b = random_bits(rng, dtype_a, shape), random_bits(rng, dtype_b, shape)
    if a.dtype == b.dtype:
        same = rng.random(shape) < share
        b[same] = a[same]
    return a, b


SUMS = ("cosine", "cosine_scale_free", "rel_l2", "norm_ratio", "mean_abs", "rmse")
"""Measures that depend on the order of addition; all others are equal to the last bit."""


def assert_same(x, y, tolerance=1e-12):
    """Two results agree: counts, maxima and places exactly, float sums to the tolerance."""
    for field in dataclasses.fields(x):
        u, v = getattr(x, field.name), getattr(y, field.name)
        if field.name.startswith("cosine"):
            # To 1e-12 of the sum of absolute terms, which the norms bound.
            assert same(u, v) or abs(u - v) <= tolerance, (field.name, u, v)
        elif field.name in SUMS:
            assert same(u, v) or near(u, v, tolerance), (field.name, u, v)
        elif field.name == "worst" and u is not None and v is not None:
            assert (u.index, repr(u.a), repr(u.b)) == (v.index, repr(v.a), repr(v.b))
        else:
            assert same(u, v), (field.name, u, v)


def same(u, v):
    """Equal, or both NaN."""
    return u == v or (u != u and v != v)


def check_engines(wanted):
    """Compares the engines on every type; prints the instruction set in use."""
    rng = np.random.default_rng(12)
    with np.errstate(all="ignore"):
        for dtype in ALL:
            for shape in ((3, 5), (2, 1733)):
                a, b = pair_of(rng, dtype, dtype, shape)
                for options in ({"rtol": 0.1}, {"measures": "basic"}):
                    assert_same(compare(a, b, engine="native", **options), compare(a, b, engine="numpy", **options))
    print(native_engine().instruction_set())
