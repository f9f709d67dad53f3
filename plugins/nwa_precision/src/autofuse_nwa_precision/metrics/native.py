"""The native engine: hands strided arrays to the compiled kernel and takes its sums back.

Importing this module fails where the kernel was not built; `compare` then uses the numpy engine.
"""

from __future__ import annotations

import os
from typing import Any, Dict, Iterable, Optional

import numpy as np

from . import _kernel
from .model import Counts
from .pieces import Array, Piece
from .reference import Request
from .sums import Scaled, Sums, scaled_from_int, scaled_product
from .values import Element

__all__ = ["accumulate", "instruction_set"]

_FAMILIES = ("int", "real", "complex")


def instruction_set() -> str:
    """Which of its builds the kernel uses on this processor: `avx512`, `avx2` or `baseline`."""
    return _kernel.instruction_set()


def accumulate(parts: Iterable[Piece], request: Request, threads: Optional[int] = None) -> Sums:
    """The sums over all pieces of one comparison, on at most `threads` threads (default: the cores of this process)."""
    kept = list(parts)  # their arrays must outlive the call
    result = _kernel.accumulate(
        [_piece(part) for part in kept],
        _side(request.a),
        _side(request.b),
        (
            _FAMILIES.index(request.family),
            request.everything,
            request.tolerances,
            request.same_type,
            request.ulp,
            request.rtol or 0.0,
            request.atol or 0.0,
            max(1, _cores() if threads is None else threads),
        ),
    )
    return _sums(result, request)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _piece(part: Piece) -> _kernel.Piece:
    return _address(part.a), _address(part.b), part.a.shape, part.a.strides, part.b.strides, part.steps, part.base


def _address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _side(kind: Element) -> _kernel.Side:
    item = int(kind.native.itemsize)
    component = item // 2 if kind.family == "complex" else item
    table = 0 if kind.table is None else _address(kind.table)
    return int(kind.code), item, component, kind.swapped, table


def _sums(result: Dict[str, Any], request: Request) -> Sums:
    if request.family == "int":
        result["square_diff"] = result["square_a"] + result["square_b"] - 2 * result["dot"]
    for name in ("dot", "square_a", "square_b", "square_diff", "total_diff"):
        result[name] = _scaled(result[name])
    for name in ("nonfinite_a", "nonfinite_b", "nonfinite_equal"):
        result[name] = Counts(*result[name])
    result["bins"] = np.frombuffer(result["bins"], np.int64)
    return Sums(**result)


def _scaled(value: Any) -> Scaled:
    return scaled_from_int(value) if isinstance(value, int) else scaled_product(*value)
