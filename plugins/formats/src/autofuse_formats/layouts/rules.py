"""The layout rules: where each stored layout keeps the axes of the plain tensor (the table of the GE format list).

A rule names, for every axis letter, the stored axis that holds it, or the two that hold its tiles and places in a tile.
C0 is the last stored extent; shapes are checked by the converter.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np

__all__ = ["MATRIX_LAYOUTS", "RULES", "Misfit", "Rule", "Unfolded", "matrix"]

Array = np.ndarray[Any, Any]
Shape = Tuple[int, ...]
Axes = Mapping[str, Union[int, Tuple[int, int]]]

N0 = 16
"""Rows of a fractal: the chip multiplies blocks of 16 rows, whatever the element type."""


class Misfit(ValueError):
    """A stored shape that cannot hold the plain one; the text says which extents disagree."""


class Unfolded(NamedTuple):
    """The stored tensor with one axis, or two, for every letter."""

    blocks: Array
    axes: Axes


class Rule(NamedTuple):
    """How one stored layout is unfolded."""

    rank: int
    """Stored axes."""
    letters: str
    """The axes it stores, in no particular order."""
    unfold: Callable[[Array, Dict[str, int]], Unfolded]
    """From the stored tensor and the plain extents by letter; `Misfit` when its axes cannot be told apart."""
    common: Tuple[str, ...]
    """Plain layouts that "ND" is tried as first: what tensors of this kind have in practice."""
    last: Optional[int] = None
    """The extent that the last stored axis must have, where the name fixes it."""


def _nc1hwc0(stored: Array, sizes: Dict[str, int]) -> Unfolded:
    """(n,c,h,w) = src[n, c//C0, h, w, c%C0]."""
    return Unfolded(stored, {"N": 0, "C": (1, 4), "H": 2, "W": 3})


def _ndc1hwc0(stored: Array, sizes: Dict[str, int]) -> Unfolded:
    """(n,d,c,h,w) = src[n, d, c//C0, h, w, c%C0]."""
    return Unfolded(stored, {"N": 0, "D": 1, "C": (2, 5), "H": 3, "W": 4})


def _c1hwncoc0(stored: Array, sizes: Dict[str, int]) -> Unfolded:
    """(h,w,c,n) = src[c//C0, h, w, n, c%C0, c%C0]: the diagonal of the last two axes."""
    if stored.shape[-1] != stored.shape[-2]:
        raise Misfit(f"the last two extents of C1HWNCoC0 are equal, not {stored.shape[-2]} and {stored.shape[-1]}")
    diagonal = np.diagonal(stored, axis1=-2, axis2=-1)
    return Unfolded(diagonal, {"C": (0, 4), "H": 1, "W": 2, "N": 3})


def _fractal_z(stored: Array, sizes: Dict[str, int]) -> Unfolded:
    """(n,c,h,w) = src[(c//C0)*H*W + h*W + w, n//16, n%16, c%C0]."""
    blocks = _split_first(stored, sizes, "C", "HW")
    return Unfolded(blocks, {"C": (0, 5), "H": 1, "W": 2, "N": (3, 4)})


def _fractal_z_3d(stored: Array, sizes: Dict[str, int]) -> Unfolded:
    """(n,d,c,h,w) = src[(d*C1 + c//C0)*H*W + h*W + w, n//16, n%16, c%C0]."""
    blocks = _split_first(stored, sizes, "C", "HW", depth=True)
    return Unfolded(blocks, {"D": 0, "C": (1, 6), "H": 2, "W": 3, "N": (4, 5)})


def _fractal_z_3d_transpose(stored: Array, sizes: Dict[str, int]) -> Unfolded:
    """FRACTAL_Z_3D with N and C swapped."""
    blocks = _split_first(stored, sizes, "N", "HW", depth=True)
    return Unfolded(blocks, {"D": 0, "N": (1, 6), "H": 2, "W": 3, "C": (4, 5)})


def _split_first(stored: Array, sizes: Dict[str, int], tiled: str, window: str, depth: bool = False) -> Array:
    """Cuts the first axis into [depth,] tiles of the letter `tiled`, and the window axes."""
    c0 = stored.shape[-1]
    tiles = -(-sizes[tiled] // c0) if c0 else 0
    parts = ([sizes["D"]] if depth else []) + [tiles] + [sizes[letter] for letter in window]
    if math.prod(parts) != stored.shape[0]:
        product = "*".join(map(str, parts))
        raise Misfit(f"the first extent is {stored.shape[0]}, the original shape needs {product} = {math.prod(parts)}")
    if stored.shape[-2] != N0:
        raise Misfit(f"the last but one extent of a fractal is {N0}, not {stored.shape[-2]}")
    return stored.reshape(*parts, *stored.shape[1:])


_FEATURE_4D = ("NCHW", "NHWC")
_FEATURE_5D = ("NCDHW", "NDHWC")
_FILTER_4D = ("NCHW", "NHWC", "HWCN", "CHWN")
_FILTER_5D = ("NCDHW", "NDHWC", "DHWCN", "DHWNC")

RULES: Dict[str, Rule] = {
    "NC1HWC0": Rule(5, "NCHW", _nc1hwc0, _FEATURE_4D),
    "NC1HWC0_C04": Rule(5, "NCHW", _nc1hwc0, _FEATURE_4D, last=4),
    "NDC1HWC0": Rule(6, "NCDHW", _ndc1hwc0, _FEATURE_5D + _FEATURE_4D),
    "C1HWNCoC0": Rule(6, "NCHW", _c1hwncoc0, _FILTER_4D),
    "FRACTAL_Z": Rule(4, "NCHW", _fractal_z, _FILTER_4D),
    "FRACTAL_Z_C04": Rule(4, "NCHW", _fractal_z, _FILTER_4D, last=4),
    "FRACTAL_Z_3D": Rule(4, "NCDHW", _fractal_z_3d, _FILTER_5D),
    "FRACTAL_Z_3D_TRANSPOSE": Rule(4, "NCDHW", _fractal_z_3d_transpose, _FILTER_5D),
}
"""Stored layouts of named axes."""

MATRIX_LAYOUTS: Dict[str, Optional[int]] = {
    "FRACTAL_NZ": None,
    "FRACTAL_NZ_C0_16": 16,
    "FRACTAL_NZ_C0_32": 32,
    "FRACTAL_ZZ": None,
}
"""Stored layouts of the last two axes of any tensor, and the last extent where the name fixes it."""


def matrix(stored: Array, row_tiles_first: bool) -> Tuple[Array, Tuple[int, ...]]:
    """The blocks and tiles of a matrix layout: (…, H tiles, 16, W tiles, W0).

    FRACTAL_NZ: (…,h,w) = src[…, w//W0, h//16, h%16, w%W0]. FRACTAL_ZZ has the tiles of rows first.
    """
    if stored.ndim < 4:
        raise Misfit(f"stored in {stored.ndim} axes; a fractal matrix has at least 4")
    if stored.shape[-2] != N0:
        raise Misfit(f"the last but one extent of a fractal is {N0}, not {stored.shape[-2]}")
    batch = stored.ndim - 4
    rows, columns = (batch, batch + 1) if row_tiles_first else (batch + 1, batch)
    blocks = stored.transpose(*range(batch), rows, batch + 2, columns, batch + 3)
    return blocks, (0,) * batch + (N0, stored.shape[-1])
