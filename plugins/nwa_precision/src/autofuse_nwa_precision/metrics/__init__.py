"""Compares two tensors: every measure of the precision report, in one pass over strided or memory-mapped arrays.

Reading dumps, judging the measures and showing them are left to the rest of the package.
"""

from __future__ import annotations

from .comparison import compare, native_engine
from .model import PERCENTILE_ERROR, PERCENTILE_FLOOR, Counts, Histogram, Metrics, Worst
from .pieces import Tiled
from .values import COMPLEX32, FLOAT4_E1M2, HIFLOAT8, is_supported

__all__ = [
    "COMPLEX32",
    "FLOAT4_E1M2",
    "HIFLOAT8",
    "PERCENTILE_ERROR",
    "PERCENTILE_FLOOR",
    "Counts",
    "Histogram",
    "Metrics",
    "Tiled",
    "Worst",
    "compare",
    "is_supported",
    "native_engine",
]
