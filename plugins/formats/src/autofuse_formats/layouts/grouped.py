"""FRACTAL_Z of grouped convolutions: several groups share a block, so that neither rows nor columns stay unused.

No strided view exists (where a channel lies depends on the group of its kernel), so the plain tensor is copied; filters
of grouped convolutions are small.
"""

from __future__ import annotations

import math
from typing import Any, Tuple

import numpy as np

from .rules import N0, Misfit

__all__ = ["group_blocks", "grouped_filter"]

Array = np.ndarray[Any, Any]
Sizes = Tuple[int, int, int, int]
"""N, C, H, W."""


def grouped_filter(stored: Array, sizes: Sizes, groups: int) -> Array:
    """The filter as (N, C, H, W), with N = all output channels and C = input channels of one group.

    With co = N/g: E = min(lcm(lcm(C,C0)/C, lcm(co,16)/co), g) groups share a block; group q takes rows e*C… and columns
    e*co… of block q//E, where e = q%E.
    """
    n, c, _, _ = sizes
    shared, parts = group_blocks(stored.shape, sizes, groups)
    c0, outputs = stored.shape[-1], n // groups
    source = stored.reshape(*parts, *stored.shape[1:])
    group, output = np.divmod(np.arange(n)[:, None], outputs)
    block, place = np.divmod(group, shared)
    row, column = place * c + np.arange(c), place * outputs + output
    filters: Array = source[block, row // c0, :, :, column // N0, column % N0, row % c0]
    return filters


def group_blocks(stored_shape: Tuple[int, ...], sizes: Sizes, groups: int) -> Tuple[int, Tuple[int, int, int, int]]:
    """How many groups share a block, and the factors of the first stored extent: blocks, C1, H, W.

    Misfit when the stored shape is another one.
    """
    n, c, h, w = sizes
    c0, outputs = stored_shape[-1], n // groups
    if n % groups:
        raise Misfit(f"{n} output channels are no multiple of {groups} groups")
    if not (c0 and c and outputs):
        raise Misfit("an extent is 0")
    shared = min(math.lcm(math.lcm(c, c0) // c, math.lcm(outputs, N0) // outputs), groups)
    blocks, row_tiles = -(-groups // shared), -(-shared * c // c0)
    needed = (blocks * row_tiles * h * w, -(-shared * outputs // N0), N0, c0)
    if stored_shape != needed:
        raise Misfit(f"{groups} groups of the original shape need {needed}")
    return shared, (blocks, row_tiles, h, w)
