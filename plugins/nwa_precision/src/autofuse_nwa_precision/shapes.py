"""When two shapes of equal element count hold their elements in the same order, and which axis orders fit if not."""

from __future__ import annotations

import itertools
from typing import Iterator, List, Optional, Sequence, Tuple

from autofuse_nwa_precision.dumps.tensor import Shape

__all__ = ["common_refinement", "element_order", "permutations_to", "permuted"]

_MOST_AXES = 6
"""Axis orders are tried up to this rank: 720 of them."""


def common_refinement(a: Sequence[int], b: Sequence[int]) -> Optional[Shape]:
    """The finest shape both can be split into when they differ by ones and merges only; None when the orders differ.

    (2, 3, 4) and (6, 4) give (2, 3, 4); (2, 6) and (3, 4) hold twelve elements each, but no axis of one is a product of
    axes of the other.
    """
    left, right = [x for x in a if x != 1], [x for x in b if x != 1]
    if 0 in left or 0 in right:
        return None
    refined: List[int] = []
    while left and right:
        mine, other = [left.pop(0)], [right.pop(0)]
        product, target = mine[0], other[0]
        while product != target:
            if product < target:
                if not left:
                    return None
                mine.append(left.pop(0))
                product *= mine[-1]
            else:
                if not right:
                    return None
                other.append(right.pop(0))
                target *= other[-1]
        if len(mine) > 1 and len(other) > 1:
            return None
        refined.extend(mine if len(mine) > 1 else other)
    return None if left or right else tuple(refined)


def permuted(shape: Sequence[int], layout: str, to: str) -> Optional[Shape]:
    """A shape in the order of one plain layout in the order of another; None when the letters differ."""
    if set(layout) != set(to) or len(layout) != len(shape):
        return None
    return tuple(shape[layout.index(letter)] for letter in to)


def permutations_to(shape: Shape, other: Shape) -> Iterator[Tuple[int, ...]]:
    """The axis orders that turn `shape` into `other`; orders that differ only in axes of extent 1 once."""
    if len(shape) != len(other) or len(shape) > _MOST_AXES or sorted(shape) != sorted(other):
        return
    seen = set()
    for axes in itertools.permutations(range(len(shape))):
        if tuple(shape[axis] for axis in axes) == other:
            order = element_order(shape, axes)
            if order not in seen:
                seen.add(order)
                yield axes


def element_order(shape: Sequence[int], axes: Sequence[int]) -> Tuple[int, ...]:
    """The axes that matter for the order of the elements: those longer than 1."""
    return tuple(axis for axis in axes if shape[axis] != 1)
