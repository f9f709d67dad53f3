"""Linear scales with readable ticks, safe for every finite double."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Iterable, List, Optional

__all__ = ["Scale", "drawable", "scale_for"]

_LARGEST = 1e300
"""Beyond it the arithmetic of an axis overflows."""
_SMALLEST = 1e-300
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def drawable(value: Optional[float]) -> bool:
    """Whether a value has a place on an axis; None, nan, inf and the last powers of ten before it have none."""
    return value is not None and math.isfinite(value) and abs(value) <= _LARGEST


@dataclass(frozen=True)
class Scale:
    """Maps values from `low` to `high` to pixels from `start` to `end`, which may run backwards."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, count: int) -> List[float]:
        """Round values within the range, about `count` of them."""
        raw = (self.high - self.low) / max(count, 1)
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(factor * power for factor in _STEPS if factor * power >= raw * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [index * step for index in range(int(first), int(last) + 1)][: 4 * count + 4]


def scale_for(values: Iterable[float], start: float, end: float, with_zero: bool) -> Scale:
    """The scale that holds all the values (drawable ones), and zero where wanted; never empty."""
    found = list(values) or [0.0]
    low, high = min(found), max(found)
    if with_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low <= max(_SMALLEST, 1e-12 * max(abs(low), abs(high))):
        room = max(abs(high) * 0.5, 0.5)
        low, high = (low, high + 2 * room) if with_zero and low == 0 else (low - room, high + room)
    return Scale(low, high, start, end)
