"""The accelerator's memory holds a matrix in columns of 8 elements, the last column padded."""

from __future__ import annotations

from typing import Any, Optional, Tuple

_WIDTH = 8


def convert(stored: Any, shape: Tuple[int, ...], *, groups: int = 1, c0: Optional[int] = None) -> Any:
    """`stored` (…, columns / 8, rows, 8) as an array of `shape` (…, rows, columns); padding is cropped.

    ValueError when the two do not fit.
    """
    if len(shape) < 2:
        raise ValueError(f"the shape {shape} has no rows and columns")
    *outer, rows, columns = shape
    blocks = -(-columns // _WIDTH)
    if tuple(stored.shape) != (*outer, blocks, rows, _WIDTH):
        raise ValueError(f"stored {tuple(stored.shape)} is not {(*outer, blocks, rows, _WIDTH)}, which {shape} needs")
    return stored.swapaxes(-3, -2).reshape(*outer, rows, blocks * _WIDTH)[..., :columns]
