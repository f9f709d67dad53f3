"""The converters behind the hook: one object for each pair of a stored and a plain layout.

Called, a converter gives an array (a view where strides allow it); its `view` never copies for size: it gives a
`TiledView` where no array view exists. Which pair a tensor needs is decided by `resolve` and by the caller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from .flat import default_c0, matrix_shape, stored_shape
from .grouped import checked_blocks, grouped_filter
from .rules import MATRIX_LAYOUTS, RULES, Misfit, Rule, matrix
from .tiled import Array, Plain, plain_view

__all__ = ["PLAIN", "Converter", "MatrixConverter", "NamedConverter", "PermutedConverter", "UnnamedConverter", "orders"]

Shape = Tuple[int, ...]

PLAIN = ("NCHW", "NHWC", "HWCN", "CHWN", "NCDHW", "NDHWC", "DHWCN", "DHWNC", "NC", "CN")
"""Plain layouts: the name is the order of the axes."""


@dataclass(frozen=True)
class Converter:
    """Takes tensors stored as `stored` to the order `plain`."""

    stored: str
    plain: str

    def __call__(self, stored: Array, shape: Sequence[int], *, groups: int = 1, c0: Optional[int] = None) -> Array:
        """The plain tensor of the original `shape` (in plain order), a view where strides allow it.

        `groups` counts for FRACTAL_Z, `c0` is what the format word says, if it does. A tensor of tiles may also come as
        one row of elements; its stored shape then follows from the original one. ValueError when `stored` cannot hold
        the shape, with the extents that disagree.
        """
        return np.asarray(self.view(stored, shape, groups=groups, c0=c0))

    def view(self, stored: Array, shape: Sequence[int], *, groups: int = 1, c0: Optional[int] = None) -> Plain:
        """The same, but a `TiledView` where an array takes a copy. (Grouped FRACTAL_Z is copied all the same.)"""
        shape = tuple(int(extent) for extent in shape)
        try:
            if min(shape, default=0) < 0:
                raise Misfit("an extent is negative")
            folded = self._folded(stored, shape, max(groups, 1), c0)
            self._check_c0(folded, c0)
            return self._view(folded, shape, max(groups, 1))
        except Misfit as misfit:
            raise ValueError(
                f"{self.stored} {_text(stored.shape)} does not hold {self.plain} {_text(shape)}: {misfit}"
            ) from None

    def fits(self, stored_shape: Sequence[int], shape: Sequence[int], *, groups: int = 1) -> bool:
        """Whether a tensor stored in `stored_shape` can be one of the plain `shape`."""
        # What is stored as one row is looked at with the C0 of either element size.
        candidates = (None, 16, 32) if len(stored_shape) == 1 else (None,)
        return any(self._fits(tuple(stored_shape), tuple(shape), max(groups, 1), c0) for c0 in candidates)

    def padded_shape(self, stored_shape: Sequence[int]) -> Optional[Shape]:
        """The plain shape with all padding, or None where the stored shape does not tell it (FRACTAL_Z)."""
        raise NotImplementedError

    def _fits(self, stored_shape: Shape, shape: Shape, groups: int, c0: Optional[int]) -> bool:
        try:
            self.view(_stand_in(stored_shape), shape, groups=groups, c0=c0)
        except ValueError:
            return False
        return True

    def _folded(self, stored: Array, shape: Shape, groups: int, c0: Optional[int]) -> Array:
        """The tensor in its stored shape, where it came as one row of elements."""
        if stored.ndim != 1:
            return stored
        needed = self._stored_shape(shape, groups, c0 or default_c0(self.stored, stored.dtype.itemsize))
        return stored.reshape(needed) if needed is not None and math.prod(needed) == stored.size else stored

    def _stored_shape(self, shape: Shape, groups: int, c0: int) -> Optional[Shape]:
        """The stored shape that the original one and C0 give; None where this layout has no tiles."""
        return None

    def _view(self, stored: Array, shape: Shape, groups: int) -> Plain:
        raise NotImplementedError

    def _check_c0(self, stored: Array, c0: Optional[int]) -> None:
        pass


def _stand_in(shape: Sequence[int]) -> Array:
    """An array of any shape that takes one byte; ValueError for shapes that no array can have."""
    return np.broadcast_to(np.uint8(0), tuple(shape))


def _text(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "scalar"


def _check_last(stored: Array, rank: int, last: Optional[int], c0: Optional[int]) -> None:
    if stored.ndim != rank:
        raise Misfit(f"stored in {stored.ndim} axes instead of {rank}")
    if not stored.shape[-1]:
        raise Misfit("the last extent is 0")
    for wanted in (last, c0):
        if wanted is not None and stored.shape[-1] != wanted:
            raise Misfit(f"the last extent is {stored.shape[-1]}, C0 is {wanted}")


class NamedConverter(Converter):
    """From a stored layout of named axes to one plain order of them."""

    @property
    def rule(self) -> Rule:
        """The rule of the stored layout."""
        return RULES[self.stored]

    def padded_shape(self, stored_shape: Sequence[int]) -> Optional[Shape]:
        if self.stored.startswith("FRACTAL_Z") or len(stored_shape) != self.rule.rank:
            return None
        try:
            blocks, axes = self.rule.unfold(_stand_in(stored_shape), {})
        except ValueError:
            return None
        # Without D: the order of a 4-D original, whose depth is 1.
        if set(axes) - set(self.plain) and blocks.shape[_single(axes["D"])] != 1:
            return None
        return tuple(_extent(blocks, axes[letter]) for letter in self.plain)

    def _fits(self, stored_shape: Shape, shape: Shape, groups: int, c0: Optional[int]) -> bool:
        if groups <= 1:
            return super()._fits(stored_shape, shape, groups, c0)
        try:
            # A view would be a copy here.
            stored = self._folded(_stand_in(stored_shape), shape, groups, c0)
            self._check_c0(stored, c0)
            checked_blocks(stored.shape, _filter_sizes(self._sizes(shape)), groups)
        except ValueError:
            return False
        return self.stored in _GROUPED

    def _stored_shape(self, shape: Shape, groups: int, c0: int) -> Optional[Shape]:
        return stored_shape(self.stored, self._sizes(shape), c0, groups)

    def _check_c0(self, stored: Array, c0: Optional[int]) -> None:
        _check_last(stored, self.rule.rank, self.rule.last, c0)

    def _view(self, stored: Array, shape: Shape, groups: int) -> Plain:
        sizes = self._sizes(shape)
        if groups > 1:
            return self._grouped(stored, sizes, groups)
        blocks, axes = self.rule.unfold(stored, sizes)
        order: List[int] = []
        tiles: List[int] = []
        for letter in (*(sizes.keys() - set(self.plain)), *self.plain):
            axis = axes[letter]
            place = axis if isinstance(axis, tuple) else (axis,)
            tile = blocks.shape[place[1]] if len(place) == 2 else 0
            _check_extent(letter, sizes[letter], blocks.shape[place[0]], tile)
            order.extend(place)
            tiles.append(tile)
        blocks = blocks.transpose(order)
        if len(sizes) > len(self.plain):
            blocks, tiles = blocks[0], tiles[1:]
        return plain_view(blocks, tiles, shape)

    def _sizes(self, shape: Shape) -> Dict[str, int]:
        if len(shape) != len(self.plain):
            raise Misfit(f"{self.plain} has {len(self.plain)} axes")
        # A 4-D original of a 5-D layout has depth 1.
        return {**dict.fromkeys(self.rule.letters, 1), **dict(zip(self.plain, shape))}

    def _grouped(self, stored: Array, sizes: Dict[str, int], groups: int) -> Array:
        if self.stored not in _GROUPED:
            raise Misfit(f"{groups} groups; only FRACTAL_Z is defined with groups")
        filters = grouped_filter(stored, _filter_sizes(sizes), groups)
        plain: Array = filters.transpose(["NCHW".index(letter) for letter in self.plain])
        return plain


_GROUPED = ("FRACTAL_Z", "FRACTAL_Z_C04")


def _filter_sizes(sizes: Dict[str, int]) -> Tuple[int, int, int, int]:
    return sizes["N"], sizes["C"], sizes["H"], sizes["W"]


def _single(axis: object) -> int:
    assert isinstance(axis, int)
    return axis


def _extent(blocks: Array, axis: Any) -> int:
    place = axis if isinstance(axis, tuple) else (axis,)
    return math.prod(blocks.shape[part] for part in place)


def _check_extent(letter: str, wanted: int, stored: int, tile: int) -> None:
    """A tiled axis has just the tiles it needs; any other axis is stored as it is."""
    needed = -(-wanted // tile) if tile else wanted
    if needed != stored:
        unit = f" tiles of {tile}" if tile else ""
        raise Misfit(f"{letter} = {wanted} needs {needed}{unit}, stored are {stored}")


class MatrixConverter(Converter):
    """From a fractal of the last two axes to the tensor in its own order, whatever its axes mean."""

    def padded_shape(self, stored_shape: Sequence[int]) -> Optional[Shape]:
        try:
            blocks, _ = matrix(_stand_in(stored_shape), self.stored == "FRACTAL_ZZ")
        except ValueError:
            return None
        rows, row_tile, columns, column_tile = blocks.shape[-4:]
        return (*blocks.shape[:-4], rows * row_tile, columns * column_tile)

    def _stored_shape(self, shape: Shape, groups: int, c0: int) -> Optional[Shape]:
        # As one row of elements a vector does not tell whether it is stored as a row or as a column of tiles.
        return matrix_shape(self.stored, shape, c0) if len(shape) > 1 else None

    def _check_c0(self, stored: Array, c0: Optional[int]) -> None:
        _check_last(stored, max(stored.ndim, 4), MATRIX_LAYOUTS[self.stored], c0)

    def _view(self, stored: Array, shape: Shape, groups: int) -> Plain:
        if len(shape) == 1 and self.stored != "FRACTAL_ZZ":
            return self._vector(stored, shape[0])
        if len(shape) < 2:
            raise Misfit("a matrix has at least 2 axes")
        if stored.ndim != len(shape) + 2:
            raise Misfit(f"stored in {stored.ndim} axes instead of {len(shape) + 2}")
        blocks, tiles = matrix(stored, self.stored == "FRACTAL_ZZ")
        for axis, extent in enumerate(shape[:-2]):
            _check_extent(f"axis {axis}", extent, blocks.shape[axis], 0)
        _check_extent("H", shape[-2], blocks.shape[-4], tiles[-2])
        _check_extent("W", shape[-1], blocks.shape[-2], tiles[-1])
        return plain_view(blocks, tiles, shape)

    def _vector(self, stored: Array, extent: int) -> Plain:
        """A 1-D original K is stored as the row (1, K), or else as the column (K, 1): whichever fits."""
        try:
            row = self._view(stored, (1, extent), 1)
        except Misfit:
            return _drop_axis(self._view(stored, (extent, 1), 1), 1)
        return _drop_axis(row, 0)


def _drop_axis(view: Plain, axis: int) -> Plain:
    """The view without one of the two axes of a row or column; that axis has extent 1 and so never is in tiles."""
    if isinstance(view, np.ndarray):
        return view.reshape([extent for place, extent in enumerate(view.shape) if place != axis])
    extent, tile = view.shape[1 - axis], view.tiles[1 - axis]
    return plain_view(view.blocks.reshape(-1, tile) if axis == 0 else view.blocks[..., 0], (tile,), (extent,))


class PermutedConverter(Converter):
    """From one plain layout to another of the same rank."""

    def padded_shape(self, stored_shape: Sequence[int]) -> Optional[Shape]:
        if len(stored_shape) != len(self.stored):
            return None
        return tuple(stored_shape[self.stored.index(letter)] for letter in self.plain)

    def _check_c0(self, stored: Array, c0: Optional[int]) -> None:
        if stored.ndim != len(self.stored):
            raise Misfit(f"stored in {stored.ndim} axes instead of {len(self.stored)}")

    def _view(self, stored: Array, shape: Shape, groups: int) -> Plain:
        view: Array = stored.transpose([self.stored.index(letter) for letter in self.plain])
        if view.shape != shape:
            raise Misfit(f"in the order {self.plain} it is {_text(view.shape)}")
        return view


class UnnamedConverter(Converter):
    """To "ND", which says nothing about order: the one order of named axes that fits the original shape."""

    def padded_shape(self, stored_shape: Sequence[int]) -> Optional[Shape]:
        return None

    def _view(self, stored: Array, shape: Shape, groups: int) -> Plain:
        found = orders(self.stored, stored.shape, shape, groups)
        if not found:
            raise Misfit("no order of its axes fits")
        if len(found) > 1:
            raise Misfit(f"the order is ambiguous: {' and '.join(found)} fit")
        return NamedConverter(self.stored, found[0]).view(stored, shape, groups=groups)


def orders(stored: str, stored_shape: Sequence[int], shape: Sequence[int], groups: int = 1) -> Tuple[str, ...]:
    """The plain layouts in which a stored tensor has the plain `shape`: first of the usual ones, else of all.

    Layouts that differ only in axes of extent 1 are the same order; the first of them is given.
    """
    rule = RULES[stored]
    others = tuple(plain for plain in PLAIN if plain not in rule.common and set(plain) == set(rule.letters))
    for candidates in (rule.common, others):
        distinct: Dict[Tuple[str, ...], str] = {}
        for plain in candidates:
            if NamedConverter(stored, plain).fits(stored_shape, shape, groups=groups):
                significant = tuple(letter for letter, extent in zip(plain, shape) if extent != 1)
                distinct.setdefault(significant, plain)
        if distinct:
            return tuple(distinct.values())
    return ()
