"""The measures in exact arithmetic, element by element from their definitions: what the engines are tested against."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np

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
