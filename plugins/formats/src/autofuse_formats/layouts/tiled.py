"""A plain tensor seen inside its stored bytes, for layouts whose plain shape no strided view can have.

Only views are made here; whoever reads the elements decides whether to copy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, List, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.lib.stride_tricks import as_strided

__all__ = ["Array", "Plain", "TiledView", "plain_view"]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class TiledView:
    """A tensor of plain shape `shape` whose axes may be cut into tiles.

    Element (x, y, …) is `blocks[x, y // t, y % t, …]` where the second axis has tiles of t; `numpy.asarray` copies it.
    """

    blocks: Array
    """A view of the stored tensor with, for each plain axis, one axis or two (tile, place in the tile)."""
    tiles: Tuple[int, ...]
    """For each plain axis the extent of its tiles, or 0 where it has one axis."""
    shape: Tuple[int, ...]

    @property
    def dtype(self) -> Any:
        """The element type of the stored tensor."""
        return self.blocks.dtype

    @property
    def ndim(self) -> int:
        """The number of plain axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of plain elements."""
        return math.prod(self.shape)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Array:
        if copy is False:
            raise ValueError("a tiled tensor has no plain view; it has to be copied")
        used = tuple(slice(0, extent) for extent in self._used())
        whole = tuple(self._padded())
        plain: Array = self.blocks[used].reshape(whole)[tuple(slice(0, extent) for extent in self.shape)]
        return np.ascontiguousarray(plain, dtype=dtype)

    def _used(self) -> Sequence[int]:
        """Extents of the blocks that hold elements; the last tile of an axis is kept whole."""
        extents: List[int] = []
        for extent, tile in zip(self.shape, self.tiles):
            extents.extend((-(-extent // tile), tile) if tile else (extent,))
        return extents

    def _padded(self) -> Sequence[int]:
        return [-(-extent // tile) * tile if tile else extent for extent, tile in zip(self.shape, self.tiles)]


Plain = Union[Array, TiledView]


def plain_view(blocks: Array, tiles: Sequence[int], shape: Sequence[int]) -> Plain:
    """The view of plain shape: an array where strides allow it, otherwise a `TiledView`.

    An axis needs no tiles when it lies in one, or when its tiles follow each other like its elements.
    """
    extents = iter(zip(blocks.shape, blocks.strides))
    kept_extents, kept_strides, kept_tiles = [], [], []
    for extent, tile in zip(shape, tiles):
        outer, outer_stride = next(extents) if tile else (0, 0)
        inner, stride = next(extents)
        if tile and extent > tile and outer_stride != tile * stride:
            kept_extents += [outer, inner]
            kept_strides += [outer_stride, stride]
            kept_tiles.append(tile)
        else:
            kept_extents.append(extent)
            kept_strides.append(stride)
            kept_tiles.append(0)
    view: Array = as_strided(blocks, kept_extents, kept_strides, writeable=False)
    return TiledView(view, tuple(kept_tiles), tuple(shape)) if any(kept_tiles) else view
