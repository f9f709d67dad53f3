"""Which plain layout a tensor is to be converted to: pure functions of names and shapes, for the commands that compare.

No tensor is touched here.
"""

from __future__ import annotations

from typing import Optional, Sequence, Tuple

from .catalog import converter
from .convert import PLAIN, orders
from .rules import MATRIX_LAYOUTS, RULES

__all__ = ["fits", "is_plain", "padded_shape", "plain_or_nd", "resolve_nd"]


def is_plain(layout: str) -> bool:
    """Whether tensors of this layout are stored as they are: `ND` or a name that is the order of the axes."""
    return layout == "ND" or layout in PLAIN


def plain_or_nd(layout: str, rank: int) -> str:
    """The layout, or `ND` where it is a plain one of another rank: "NCHW" on a tensor of 2 axes says nothing."""
    return "ND" if layout in PLAIN and len(layout) != rank else layout


def resolve_nd(
    stored: str,
    stored_shape: Sequence[int],
    shape: Sequence[int],
    origin_format: Optional[str] = None,
    groups: int = 1,
) -> Optional[str]:
    """The plain layout to convert a tensor to when the other side, of plain `shape`, is "ND"; None when ambiguous.

    An order of axes that alone fits the shape is the answer; where several do, the original format decides if it is one
    of them. "ND" is the answer where nothing is to be reordered: fractal matrices, and plain layouts of equal shape.
    ValueError when no order fits, or the layout is unknown.
    """
    if stored in MATRIX_LAYOUTS or (is_plain(stored) and tuple(stored_shape) == tuple(shape)):
        return "ND"
    found = _candidates(stored, stored_shape, shape, groups)
    if not found:
        raise ValueError(f"{stored} {tuple(stored_shape)} holds no tensor of shape {tuple(shape)} in any order")
    if len(found) == 1:
        return found[0]
    if origin_format is not None and fits(stored, origin_format, stored_shape, shape, groups):
        return origin_format
    return None


def fits(stored: str, plain: str, stored_shape: Sequence[int], shape: Sequence[int], groups: int = 1) -> bool:
    """Whether a tensor stored so can have the plain `shape`: extents agree and padded axes are just long enough.

    This is also the test for taking the other side's shape as the original one. False for pairs that have no converter.
    """
    if stored == plain:
        return tuple(stored_shape) == tuple(shape)
    pair = converter(stored, plain)
    return pair is not None and pair.fits(stored_shape, shape, groups=groups)


def padded_shape(stored: str, plain: str, stored_shape: Sequence[int]) -> Optional[Tuple[int, ...]]:
    """The plain shape including the padding, to convert to when no original shape is known and nothing is cropped.

    None where the stored shape does not tell it: FRACTAL_Z keeps height, width and channels in one extent.
    """
    if stored == plain:
        return tuple(stored_shape)
    pair = converter(stored, plain)
    return pair.padded_shape(stored_shape) if pair is not None else None


def _candidates(stored: str, stored_shape: Sequence[int], shape: Sequence[int], groups: int) -> Tuple[str, ...]:
    if stored in RULES:
        return orders(stored, stored_shape, shape, groups)
    return tuple(plain for plain in PLAIN if fits(stored, plain, stored_shape, shape))
