"""Gives a stored tensor that a file holds as one row of elements its stored shape back.

The shape follows from the original one and C0; only layouts with a rule are known here.
"""

from __future__ import annotations

import math
from typing import Callable, Dict, Optional, Tuple

from .grouped import blocks_of
from .rules import N0

__all__ = ["default_c0", "matrix_shape", "stored_shape"]

Shape = Tuple[int, ...]


def default_c0(layout: str, itemsize: int) -> int:
    """C0 where no stored shape and no format word tell it: by the name, else 32 for one-byte types, 16 for others."""
    for suffix, c0 in (("_C04", 4), ("_C0_16", 16), ("_C0_32", 32)):
        if layout.endswith(suffix):
            return c0
    return 32 if itemsize == 1 else 16


def stored_shape(layout: str, sizes: Dict[str, int], c0: int, groups: int = 1) -> Optional[Shape]:
    """The stored shape of a tensor with these extents by axis letter; None for a layout that has no rule here."""
    if groups > 1 and layout.startswith("FRACTAL_Z"):
        return blocks_of((sizes["N"], sizes["C"], sizes["H"], sizes["W"]), c0, groups).stored_shape
    shape = _SHAPES.get(layout.replace("_C04", ""))
    return shape(sizes, c0) if shape is not None else None


def matrix_shape(layout: str, shape: Shape, w0: int) -> Shape:
    """The stored shape of a fractal matrix with the plain `shape` of at least two axes."""
    rows, columns = _up(shape[-2], N0), _up(shape[-1], w0)
    tiles = (rows, columns) if layout == "FRACTAL_ZZ" else (columns, rows)
    return (*shape[:-2], *tiles, N0, w0)


def _up(extent: int, tile: int) -> int:
    return -(-extent // tile)


def _window(sizes: Dict[str, int], letters: str) -> int:
    return math.prod(sizes[letter] for letter in letters)


_SHAPES: Dict[str, Callable[[Dict[str, int], int], Shape]] = {
    "NC1HWC0": lambda s, c0: (s["N"], _up(s["C"], c0), s["H"], s["W"], c0),
    "NDC1HWC0": lambda s, c0: (s["N"], s["D"], _up(s["C"], c0), s["H"], s["W"], c0),
    "C1HWNCoC0": lambda s, c0: (_up(s["C"], c0), s["H"], s["W"], s["N"], c0, c0),
    "FRACTAL_Z": lambda s, c0: (_up(s["C"], c0) * _window(s, "HW"), _up(s["N"], N0), N0, c0),
    "FRACTAL_Z_3D": lambda s, c0: (_up(s["C"], c0) * _window(s, "DHW"), _up(s["N"], N0), N0, c0),
    "FRACTAL_Z_3D_TRANSPOSE": lambda s, c0: (_up(s["N"], c0) * _window(s, "DHW"), _up(s["C"], N0), N0, c0),
}
