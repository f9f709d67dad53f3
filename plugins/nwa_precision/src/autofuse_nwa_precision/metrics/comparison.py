"""The public comparison: checks its arguments, chooses an engine and finishes what the engine summed.

The engines are `native` (the compiled kernel) and `reference` (numpy); their numbers agree.
"""

from __future__ import annotations

import importlib
import math
from typing import Any, Optional, Tuple

from .finish import finish
from .model import Metrics, Number
from .pieces import Tensor, item, pieces
from .reference import Request, accumulate
from .values import decode, element

__all__ = ["compare", "native_engine"]


def compare(
    a: Tensor,
    b: Tensor,
    *,
    measures: str = "all",
    rtol: Optional[float] = None,
    atol: Optional[float] = None,
    threads: Optional[int] = None,
    engine: str = "auto",
) -> Metrics:
    """All measures of `a` (the side under test) against `b` (the reference); see `Metrics` for each definition.

    Both are arrays of one shape, with any strides and byte order, also memory-mapped, or tiled views of a stored
    layout. The dtypes may differ: values are compared as float64, integers against integers exactly. Besides numpy's
    numbers and those of ml_dtypes, the marker dtypes of `metrics.values` are understood. Memory needed does not depend
    on the size.

    `measures`: `all`, or `basic` for sums, maxima and non-finite counts only. `rtol`, `atol`: the elementwise rule
    |a-b| <= atol + rtol |b|. `threads`: at most so many (default: the cores this process may use); the result does not
    depend on it. `engine`: `native`, `numpy`, or `auto` for the native one where it was built.

    ValueError: shapes differ, negative or NaN tolerance, unknown option. TypeError: a dtype that holds no numbers.
    ImportError: `engine="native"` where it was not built.
    """
    _check(measures, rtol, atol, engine)
    request = Request(element(a.dtype), element(b.dtype), measures == "all", rtol, atol)
    native = None if engine == "numpy" else native_engine()
    if native is not None:
        sums = native.accumulate(pieces(a, b), request, threads)
    elif engine == "native":
        raise ImportError("the native kernel was not built; install a C++ compiler and reinstall this package")
    else:
        sums = accumulate(pieces(a, b), request)

    def item_at(index: Tuple[int, ...]) -> Tuple[Number, Number]:
        return decode(item(a, index)).item(), decode(item(b, index)).item()

    return finish(
        sums, tuple(a.shape), item_at, everything=request.everything, ulp=request.ulp, tolerances=request.tolerances
    )


def native_engine() -> Optional[Any]:
    """The module that drives the compiled kernel, or None where it was not built."""
    try:
        return importlib.import_module(".native", __package__)
    except ImportError:
        return None


def _check(measures: str, rtol: Optional[float], atol: Optional[float], engine: str) -> None:
    if measures not in ("all", "basic"):
        raise ValueError(f"measures {measures!r}: all or basic")
    if engine not in ("auto", "native", "numpy"):
        raise ValueError(f"engine {engine!r}: auto, native or numpy")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value is not None and not (value >= 0 and math.isfinite(value)):
            raise ValueError(f"{name} {value!r}: a number of at least 0")
