"""Brings the two tensors of a row to one shape and axis order, cropped to the original shape, as views.

The rules of layouts are in the converters of the plugins; here is decided which of them a pair needs, and what is said
when nothing decides it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np
from autofuse_formats.layouts import is_plain, plain_or_nd
from autofuse_formats.layouts.convert import orders
from autofuse_formats.layouts.rules import RULES

from autofuse_nwa_precision.converters import Converters, View
from autofuse_nwa_precision.dumps.tensor import Array, Shape, Tensor
from autofuse_nwa_precision.dumps.values import elements
from autofuse_nwa_precision.shapes import common_refinement, element_order, permutations_to, permuted
from autofuse_nwa_precision.statuses import (
    DTYPE_CAST,
    FORMAT_AMBIGUOUS,
    FORMAT_CONVERSION_ERROR,
    FORMAT_CONVERTED,
    FORMAT_UNSUPPORTED,
    SHAPE_FLATTENED,
    SHAPE_MISMATCH,
    RowError,
)

__all__ = ["Aligned", "align", "cropped"]

_ND = "ND"
_UNNAMED = ("", "ND", "FORMAT_ND", "NULL", "FORMAT_RESERVED")


@dataclass
class Aligned:
    """Two views of one shape, what was done to get there, and what the row should say about it."""

    a: View
    b: View
    parts: List[str]
    notes: List[str]
    alternatives: List[Tuple[View, View, str]]
    """Ways to read the pair when shapes do not decide: each with what it takes the open side for, "" as stored."""


def align(a: Tensor, b: Tensor, converters: Converters) -> Aligned:
    """Aligns the fused side `a` with the original side `b`; RowError with the status of the row when they do not."""
    found = Aligned(a.array, b.array, [], [], [])
    if a.type.name != b.type.name:
        found.parts.append(DTYPE_CAST)
    layout_a, layout_b = _layout(a), _layout(b)
    for layout in (layout_a, layout_b):
        if not is_plain(layout) and not converters.plains(layout):
            raise RowError(FORMAT_UNSUPPORTED, f"no plugin converts the layout {layout[:60]}")
    if is_plain(layout_a) and is_plain(layout_b):
        _both_plain(found, a, layout_a, b, layout_b)
    elif is_plain(layout_b):
        found.a, found.b = _against_plain(found, a, layout_a, b, layout_b, converters)
    elif is_plain(layout_a):
        found.b, found.a = _against_plain(found, b, layout_b, a, layout_a, converters)
        found.alternatives = [(y, x, how) for x, y, how in found.alternatives]
    else:
        _both_stored(found, a, layout_a, b, layout_b, converters)
    return found


def cropped(tensor: Tensor, converters: Converters) -> Optional[View]:
    """The tensor without the padding of its layout; None where its original shape is not known or does not fit."""
    layout, original = _layout(tensor), tensor.original_shape
    if is_plain(layout) or original is None or not converters.plains(layout):
        return None
    try:
        # Any order that fits crops the same elements.
        order = _own_order(tensor, layout, original, tensor.origin_layout, tensor, converters)
        return converters.view(layout, order, tensor.array, original, tensor.groups, tensor.c0)
    except RowError:
        return None


def _layout(tensor: Tensor) -> str:
    """The stored layout; a plain one of another rank means ND."""
    layout = _ND if tensor.layout in _UNNAMED else tensor.layout
    return plain_or_nd(layout, tensor.array.ndim)


# --- both plain -------------------------------------------------------------------------------------------------------


def _both_plain(found: Aligned, a: Tensor, layout_a: str, b: Tensor, layout_b: str) -> None:
    shape_a, shape_b = a.array.shape, b.array.shape
    if layout_a != layout_b and _ND not in (layout_a, layout_b) and set(layout_a) == set(layout_b):
        if permuted(shape_a, layout_a, layout_b) != shape_b:
            raise _mismatch(f"{layout_a} {_text(shape_a)} against {layout_b} {_text(shape_b)}")
        found.a = a.array.transpose([layout_a.index(letter) for letter in layout_b])
        found.parts.append(FORMAT_CONVERTED)
    elif shape_a != shape_b:
        _named_against_nd(found, a, layout_a, b, layout_b)


def _named_against_nd(found: Aligned, a: Tensor, layout_a: str, b: Tensor, layout_b: str) -> None:
    """A named order against "ND" of another shape: the orders that fit, else the rules for shapes without names."""
    named, layout, other = (a, layout_a, b) if layout_b == _ND else (b, layout_b, a)
    axes = None
    if _ND in (layout_a, layout_b) and layout != _ND:
        axes = _only_order(layout, named, other)
    if axes is None:
        _unnamed(found, a.array, b.array)
        return
    view = named.array.transpose(axes)
    found.a, found.b = (view, b.array) if named is a else (a.array, view)
    found.parts.append(FORMAT_CONVERTED)


def _only_order(layout: str, named: Tensor, other: Tensor) -> Optional[Tuple[int, ...]]:
    """The one order of the named axes that gives the other's shape; None when none does."""
    shape, target = named.array.shape, other.array.shape
    fitting: Dict[Tuple[int, ...], Tuple[str, Tuple[int, ...]]] = {}
    for plain in _orders_of(layout):
        axes = tuple(layout.index(letter) for letter in plain)
        if tuple(shape[axis] for axis in axes) == target:
            fitting.setdefault(element_order(shape, axes), (plain, axes))
    found = list(fitting.values())
    if len(found) > 1:
        hints = (other.origin_layout, named.origin_layout)
        found = [pair for pair in found if pair[0] in hints] or found
    if len(found) > 1:
        raise _ambiguous(layout, shape, target, [plain for plain, _ in found])
    return found[0][1] if found else None


def _orders_of(layout: str) -> Sequence[str]:
    families = (("NCHW", "NHWC", "HWCN", "CHWN"), ("NCDHW", "NDHWC", "DHWCN", "DHWNC"), ("NC", "CN"))
    return next((family for family in families if set(family[0]) == set(layout)), (layout,))


def _unnamed(found: Aligned, a: Array, b: Array) -> None:
    """Shapes without names: flattened when the orders agree, compared both ways when they are permutations."""
    if elements(a.shape) != elements(b.shape):
        raise _mismatch(f"{_text(a.shape)} against {_text(b.shape)}")
    if not elements(a.shape):
        found.a, found.b = a.reshape(-1), b.reshape(-1)
        return
    refined = common_refinement(a.shape, b.shape)
    if refined is not None:
        # Splitting an axis is a view whatever the strides; merging is not.
        found.a, found.b = a.reshape(refined), b.reshape(refined)
        found.parts.append(SHAPE_FLATTENED)
        return
    possible = list(permutations_to(a.shape, b.shape))
    if not possible:
        raise _mismatch(f"{_text(a.shape)} against {_text(b.shape)}: as many elements, but in another order of axes")
    found.alternatives = [(a.transpose(axes), b, f"axes {list(axes)} of the open side") for axes in possible]
    if b.flags.c_contiguous and not a.flags.c_contiguous:
        # Only a tensor in C order can take another shape without a copy.
        found.alternatives.append((a, b.reshape(a.shape), ""))
    else:
        found.alternatives.append((a.reshape(b.shape), b, ""))


# --- one stored, one plain --------------------------------------------------------------------------------------------


def _against_plain(
    found: Aligned, stored: Tensor, layout: str, plain: Tensor, plain_layout: str, converters: Converters
) -> Tuple[View, View]:
    """The views of the stored and of the plain side."""
    found.parts.append(FORMAT_CONVERTED)
    order, shape = _target(stored, layout, plain, plain_layout, converters)
    if shape is None:
        shape = _uncropped(found, stored, layout, order, converters)
    view = converters.view(layout, order, stored.array, shape, stored.groups, stored.c0)
    other = _in_order(found, plain.array, plain_layout, order, shape)
    if order == _ND and len(shape) == 1 and shape[0] > 1:
        found.alternatives = list(_vectors(stored, layout, other, shape[0], converters))
    return view, other


def _vectors(
    stored: Tensor, layout: str, other: View, extent: int, converters: Converters
) -> Iterator[Tuple[View, View, str]]:
    """A 1-D tensor as a row and as a column of a matrix, where the stored shape is that of both."""
    shapes = {"row": (1, extent), "column": (extent, 1)}
    if all(converters.fits(layout, _ND, stored.array, shape, stored.groups) for shape in shapes.values()):
        for word, shape in shapes.items():
            view = converters.view(layout, _ND, stored.array, shape, stored.groups, stored.c0)
            yield np.asarray(view).reshape(extent), other, f"stored as a {word}"


def _target(
    stored: Tensor, layout: str, plain: Tensor, plain_layout: str, converters: Converters
) -> Tuple[str, Optional[Shape]]:
    """The plain layout to convert to and the original shape in its order; None when nothing tells the shape."""
    plains = converters.plains(layout)
    named = [candidate for candidate in plains if candidate != _ND]
    original, origin = stored.original_shape, stored.origin_layout or plain.origin_layout
    if not named:
        return _target_of_matrix(stored, layout, plain, converters)
    if plain_layout in named:
        return plain_layout, _shape_for(plain_layout, stored, layout, plain.array.shape, origin, converters)
    fitting = _fitting(stored, layout, plain.array.shape, named, plain, converters)
    if original is not None:
        fitting = [order for order in fitting if sorted(plain.array.shape) == sorted(original)]
    if fitting:
        return _decided(fitting, layout, stored.array.shape, plain.array.shape), plain.array.shape
    if original is None:
        return (origin if origin in named else named[0]), None
    fitting = [origin] if origin in named else _fitting(stored, layout, original, named, plain, converters)
    if not fitting:
        raise RowError(
            FORMAT_CONVERSION_ERROR, f"{layout} {_text(stored.array.shape)} holds no {_text(original)} in any order"
        )
    return _decided(fitting, layout, stored.array.shape, original), original


def _target_of_matrix(
    stored: Tensor, layout: str, plain: Tensor, converters: Converters
) -> Tuple[str, Optional[Shape]]:
    """A layout of the last two axes, which have no names: the order is that of the original tensor."""
    if stored.original_shape is not None:
        return _ND, stored.original_shape
    fits = converters.fits(layout, _ND, stored.array, plain.array.shape, stored.groups)
    return _ND, plain.array.shape if fits else None


def _shape_for(
    order: str, stored: Tensor, layout: str, other: Shape, origin: str, converters: Converters
) -> Optional[Shape]:
    """The original shape in the order of a plain layout: as recorded, else the other side's if it fits."""
    original = stored.original_shape
    fits = converters.fits(layout, order, stored.array, other, stored.groups)
    if original is None:
        return other if fits else None
    told = permuted(original, origin, order)
    if told is not None or (fits and sorted(other) == sorted(original)):
        return told or other
    possible = {permuted(original, plain, order) for plain in converters.plains(layout)} - {None}
    fitting = [
        shape for shape in possible if shape and converters.fits(layout, order, stored.array, shape, stored.groups)
    ]
    if len(fitting) > 1:
        raise _ambiguous(layout, stored.array.shape, original, sorted(map(_text, fitting)))
    return fitting[0] if fitting else original


def _fitting(
    stored: Tensor, layout: str, shape: Shape, named: Sequence[str], other: Tensor, converters: Converters
) -> List[str]:
    """The plain layouts in which the stored tensor can have this shape, equal orders once.

    The original order, if it is known and fits, is the only answer: it is what decides between several.
    """
    origin = stored.origin_layout or other.origin_layout
    if origin in named and converters.fits(layout, origin, stored.array, shape, stored.groups):
        return [origin]
    if layout in RULES:
        return list(orders(layout, stored.array.shape, shape, stored.groups))
    found: Dict[Tuple[str, ...], str] = {}
    for order in named:
        if len(order) == len(shape) and converters.fits(layout, order, stored.array, shape, stored.groups):
            significant = tuple(letter for letter, extent in zip(order, shape) if extent != 1)
            found.setdefault(significant, order)
    return list(found.values())


def _decided(fitting: Sequence[str], layout: str, stored: Shape, shape: Shape) -> str:
    if len(fitting) == 1:
        return fitting[0]
    raise _ambiguous(layout, stored, shape, fitting)


def _uncropped(found: Aligned, stored: Tensor, layout: str, order: str, converters: Converters) -> Shape:
    shape = converters.padded_shape(layout, order, stored.array)
    if shape is None:
        raise RowError(FORMAT_CONVERSION_ERROR, f"the original shape is not known, and {layout} does not tell it")
    found.notes.append("nothing is cropped, the original shape is not known: padding is compared too")
    return shape


def _in_order(found: Aligned, array: Array, layout: str, order: str, shape: Shape) -> View:
    """The plain side in the shape of the converted one: permuted when both have names, else split into its axes."""
    if layout not in (_ND, order) and set(layout) == set(order):
        array = array.transpose([layout.index(letter) for letter in order])
    if array.shape == shape:
        return array
    refined = common_refinement(array.shape, shape) if elements(array.shape) == elements(shape) else None
    if refined is None:
        raise _mismatch(f"{_text(shape)} ({order}, original) against {_text(array.shape)}")
    found.parts.append(SHAPE_FLATTENED)
    return array.reshape(shape)


# --- both stored ------------------------------------------------------------------------------------------------------


def _both_stored(found: Aligned, a: Tensor, layout_a: str, b: Tensor, layout_b: str, converters: Converters) -> None:
    original = a.original_shape or b.original_shape
    if original is None:
        _both_uncropped(found, a, layout_a, b, layout_b, converters)
        return
    if (
        a.original_shape is not None
        and b.original_shape is not None
        and sorted(a.original_shape) != sorted(b.original_shape)
    ):
        raise _mismatch(f"original shapes {_text(a.original_shape)} against {_text(b.original_shape)}")
    found.parts.append(FORMAT_CONVERTED)
    order_a = _own_order(a, layout_a, original, a.origin_layout or b.origin_layout, b, converters)
    order_b = order_a
    if order_a not in converters.plains(layout_b):
        order_b = _own_order(b, layout_b, original, b.origin_layout or a.origin_layout, a, converters)
    shape_a = _shape_in(order_a, a, original)
    shape_b = _shape_in(order_b, b, original)
    if shape_a != shape_b:
        raise _mismatch(f"{order_a} {_text(shape_a)} against {order_b} {_text(shape_b)}, the original shapes")
    found.a = converters.view(layout_a, order_a, a.array, shape_a, a.groups, a.c0)
    found.b = converters.view(layout_b, order_b, b.array, shape_b, b.groups, b.c0)


def _own_order(tensor: Tensor, layout: str, original: Shape, origin: str, other: Tensor, converters: Converters) -> str:
    named = [plain for plain in converters.plains(layout) if plain != _ND]
    if not named:
        return _ND
    if origin in named and len(origin) == len(original):
        return origin
    fitting = _fitting(tensor, layout, original, named, other, converters)
    if not fitting:
        raise RowError(
            FORMAT_CONVERSION_ERROR, f"{layout} {_text(tensor.array.shape)} holds no {_text(original)} in any order"
        )
    if (other.layout, other.array.shape) == (tensor.layout, tensor.array.shape):
        # Orders that fit one stored shape crop the same padding: any of them will do for both sides.
        return fitting[0]
    return _decided(fitting, layout, tensor.array.shape, original)


def _shape_in(order: str, tensor: Tensor, original: Shape) -> Shape:
    """The tensor's original shape in the order of a plain layout."""
    shape = tensor.original_shape or original
    return permuted(shape, tensor.origin_layout, order) or shape


def _both_uncropped(found: Aligned, a: Tensor, layout_a: str, b: Tensor, layout_b: str, converters: Converters) -> None:
    if layout_a == layout_b:
        if a.array.shape != b.array.shape:
            raise _mismatch(f"{layout_a} {_text(a.array.shape)} against {_text(b.array.shape)}")
        found.notes.append("nothing is cropped, the original shape is not known: padding is compared too")
        return
    shared = [plain for plain in converters.plains(layout_a) if plain in converters.plains(layout_b)]
    order = next((plain for plain in shared if plain != _ND), _ND)
    if not shared:
        raise RowError(FORMAT_CONVERSION_ERROR, f"{layout_a} and {layout_b} have no plain layout in common")
    found.parts.append(FORMAT_CONVERTED)
    shape_a = _uncropped(found, a, layout_a, order, converters)
    shape_b = _uncropped(Aligned(a.array, b.array, [], [], []), b, layout_b, order, converters)
    if shape_a != shape_b:
        raise _mismatch(f"{_text(shape_a)} against {_text(shape_b)}, both with padding: no original shape is known")
    found.a = converters.view(layout_a, order, a.array, shape_a, a.groups, a.c0)
    found.b = converters.view(layout_b, order, b.array, shape_b, b.groups, b.c0)


def _mismatch(what: str) -> RowError:
    return RowError(SHAPE_MISMATCH, what)


def _ambiguous(layout: str, shape: Shape, target: Shape, orders: Sequence[str]) -> RowError:
    return RowError(
        FORMAT_AMBIGUOUS,
        f"{layout} {_text(shape)} may be {' or '.join(orders)} of {_text(target)}, and no original format tells which",
    )


def _text(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "scalar"
