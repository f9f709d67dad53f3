"""FRACTAL_Z of grouped convolutions: several groups share a block, so that neither rows nor columns stay unused.

No strided view exists (where a channel lies depends on the group of its kernel), so the plain tensor is copied; filters
of grouped convolutions are small.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Tuple

import numpy as np

from .rules import N0, Misfit

__all__ = ["Blocks", "blocks_of", "checked_blocks", "grouped_filter"]

Array = np.ndarray[Any, Any]
Sizes = Tuple[int, int, int, int]
"""N, C, H, W: all output channels, and the input channels of one group."""


class Blocks(NamedTuple):
    """How the groups of a filter are stored."""

    shared: int
    """Groups that share a block."""
    parts: Tuple[int, int, int, int]
    """The factors of the first stored extent: blocks, C1, H, W."""
    columns: int
    """Tiles of 16 output channels."""
    c0: int

    @property
    def stored_shape(self) -> Tuple[int, ...]:
        """The shape of the whole filter."""
        return (math.prod(self.parts), self.columns, N0, self.c0)


def blocks_of(sizes: Sizes, c0: int, groups: int) -> Blocks:
    """The blocks of a filter; Misfit where its channels do not divide into groups.

    With co = N/g: E = min(lcm(lcm(C,C0)/C, lcm(co,16)/co), g) groups share a block of up(E*C, C0) row tiles and
    up(E*co, 16) column tiles.
    """
    n, c, h, w = sizes
    outputs = n // groups
    if n % groups:
        raise Misfit(f"{n} output channels are no multiple of {groups} groups")
    if not (c0 and c and outputs):
        raise Misfit("an extent is 0")
    shared = min(math.lcm(math.lcm(c, c0) // c, math.lcm(outputs, N0) // outputs), groups)
    parts = (-(-groups // shared), -(-shared * c // c0), h, w)
    return Blocks(shared, parts, -(-shared * outputs // N0), c0)


def grouped_filter(stored: Array, sizes: Sizes, groups: int) -> Array:
    """The filter as (N, C, H, W): group q takes rows e*C… and columns e*co… of block q//E, where e = q%E."""
    blocks = checked_blocks(stored.shape, sizes, groups)
    n, c, _, _ = sizes
    source = stored.reshape(*blocks.parts, *stored.shape[1:])
    group, output = np.divmod(np.arange(n)[:, None], n // groups)
    block, place = np.divmod(group, blocks.shared)
    row, column = place * c + np.arange(c), place * (n // groups) + output
    filters: Array = source[block, row // blocks.c0, :, :, column // N0, column % N0, row % blocks.c0]
    return filters


def checked_blocks(stored_shape: Tuple[int, ...], sizes: Sizes, groups: int) -> Blocks:
    """The blocks, or Misfit where the stored shape is another one."""
    blocks = blocks_of(sizes, stored_shape[-1], groups)
    if stored_shape != blocks.stored_shape:
        raise Misfit(f"{groups} groups of the original shape need {blocks.stored_shape}")
    return blocks
