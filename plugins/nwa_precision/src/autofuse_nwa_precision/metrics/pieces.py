"""Pairs two tensors element by element as strided views of equal shape, without copying either.

A tensor stored in tiles (NC1HWC0, FRACTAL_NZ) has no strided view in its plain shape, but each region in which no tile
is cut has one, if the other side's axes are split in the same way. Arithmetic is left to the engines.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Iterator, List, NamedTuple, Protocol, Sequence, Set, Tuple, Union

import numpy as np
from numpy.lib.stride_tricks import as_strided

__all__ = ["Piece", "Tensor", "Tiled", "item", "pieces"]

Array = np.ndarray[Any, Any]


class Tiled(Protocol):
    """A plain tensor inside a stored one: what `autofuse_formats.layouts` gives where a plain view is impossible."""

    @property
    def shape(self) -> Tuple[int, ...]:
        """The plain shape, padding cropped."""

    @property
    def dtype(self) -> Any:
        """The element type."""

    @property
    def blocks(self) -> Array:
        """The stored tensor in plain order: one axis for each plain one, or two (tile, place in the tile)."""

    @property
    def tiles(self) -> Tuple[int, ...]:
        """For each plain axis the extent of its tiles, or 0 where it has one axis."""


Tensor = Union[Array, Tiled]


class Piece(NamedTuple):
    """A region of both tensors: element i of `a` belongs to element i of `b`, and has the C-order position
    `base` + sum(i[k] * steps[k]) in the plain tensor."""

    a: Array
    b: Array
    base: int
    steps: Tuple[int, ...]


class _Axis(NamedTuple):
    """How one side stores a plain axis: position x is at (x // tile) * outer + (x % tile) * inner bytes."""

    tile: int
    outer: int
    inner: int

    def places(self, position: int) -> Tuple[int, ...]:
        """Indices of a plain position in the axes that hold it."""
        return (position // self.tile, position % self.tile) if self.tile else (position,)

    def stride(self, step: int) -> int:
        """Bytes between positions `step` apart, in a region that this axis's tiles do not cut between them."""
        if self.tile and step % self.tile == 0:
            return step // self.tile * self.outer
        return step * self.inner


class _Span(NamedTuple):
    """A part of a plain axis: from `start`, axes of these extents whose neighbours are `steps` positions apart."""

    start: int
    extents: Tuple[int, ...]
    steps: Tuple[int, ...]


def pieces(a: Tensor, b: Tensor) -> Iterator[Piece]:
    """Views that together pair every element of `a` and `b` once; ValueError when the shapes differ."""
    if tuple(a.shape) != tuple(b.shape):
        raise ValueError(f"shapes differ: {_times(a.shape)} and {_times(b.shape)}")
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        yield Piece(a, b, 0, _c_order(a.shape))
        return
    if not math.prod(a.shape):
        return
    axes_a, axes_b = _axes(a), _axes(b)
    if not all(_nested(x.tile, y.tile) for x, y in zip(axes_a, axes_b)):
        # Tiles of 16 against tiles of 24: no common split. Such a pair is rare enough to be copied.
        a = np.asarray(a)
        axes_a = _axes(a)
    yield from _regions(a, axes_a, b, axes_b)


def item(tensor: Tensor, index: Tuple[int, ...]) -> Array:
    """The one element at a plain index, as a 0-d array."""
    place: List[int] = []
    for position, axis in zip(index, _axes(tensor)):
        place.extend(axis.places(position))
    element: Array = _blocks(tensor)[tuple(slice(at, at + 1) for at in place)]
    return element.reshape(())


def _times(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "scalar"


def _c_order(shape: Sequence[int]) -> Tuple[int, ...]:
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _blocks(tensor: Tensor) -> Array:
    return tensor if isinstance(tensor, np.ndarray) else tensor.blocks


def _axes(tensor: Tensor) -> List[_Axis]:
    strides = iter(_blocks(tensor).strides)
    tiles = (0,) * len(tensor.shape) if isinstance(tensor, np.ndarray) else tensor.tiles
    return [_Axis(tile, next(strides) if tile else 0, next(strides)) for tile in tiles]


def _nested(x: int, y: int) -> bool:
    return not x or not y or x % y == 0 or y % x == 0


def _regions(a: Tensor, axes_a: List[_Axis], b: Tensor, axes_b: List[_Axis]) -> Iterator[Piece]:
    plain_steps = _c_order(a.shape)
    spans = [list(_spans(extent, {x.tile, y.tile})) for extent, x, y in zip(a.shape, axes_a, axes_b)]
    for region in itertools.product(*spans):
        yield Piece(
            _view(_blocks(a), axes_a, region),
            _view(_blocks(b), axes_b, region),
            sum(span.start * step for span, step in zip(region, plain_steps)),
            tuple(inner * step for span, step in zip(region, plain_steps) for inner in span.steps),
        )


def _spans(extent: int, tiles: Set[int]) -> Iterator[_Span]:
    """The part of an axis that fills the largest tiles, then what is left over by the next smaller ones."""
    sizes = sorted(tiles - {0}, reverse=True)
    start = 0
    for level, size in enumerate(sizes):
        count = (extent - start) // size
        if count:
            yield _split(start, count, sizes[level:])
            start += count * size
    if start < extent:
        yield _Span(start, (extent - start,), (1,))


def _split(start: int, count: int, sizes: Sequence[int]) -> _Span:
    extents = (count, *(large // small for large, small in zip(sizes, (*sizes[1:], 1))))
    return _Span(start, extents, (*sizes, 1))


def _view(blocks: Array, axes: List[_Axis], region: Sequence[_Span]) -> Array:
    start = tuple(slice(place, None) for axis, span in zip(axes, region) for place in axis.places(span.start))
    extents = tuple(extent for span in region for extent in span.extents)
    strides = tuple(axis.stride(step) for axis, span in zip(axes, region) for step in span.steps)
    # Each span stays inside the blocks: its last position is below the plain extent.
    view: Array = as_strided(blocks[start], extents, strides, writeable=False)
    return view
