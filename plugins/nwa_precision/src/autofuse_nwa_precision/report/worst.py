"""The elements that differ most in the worst rows, for reports that people page through; a second pass over them."""

from __future__ import annotations

from typing import Any, Iterator, List, Sequence, Tuple

import numpy as np
from autofuse.report.model import Cell, Column, Table

from autofuse_nwa_precision.comparison import Comparer
from autofuse_nwa_precision.dumps.tensor import Array
from autofuse_nwa_precision.metrics.pieces import pieces
from autofuse_nwa_precision.metrics.values import decode
from autofuse_nwa_precision.report.columns import text_of_shape, value_cell
from autofuse_nwa_precision.rows import Row
from autofuse_nwa_precision.statuses import RowError

__all__ = ["worst_table"]

_ELEMENTS = 10
_BLOCK = 1 << 20
"""Elements looked at together."""

_COLUMNS = (
    Column("fused_op_name", "text", "", "fused operator", "融合算子名"),
    Column("fused_index", "int", "", "index of its output or input", "索引"),
    Column("side", "text", "", "output or input", "类型"),
    Column("step", "int", "", "k-th dump", "步"),
    Column("rank", "int", "", "1 is the largest |a-b| of the row", "名次"),
    Column("element", "text", "", "index in the original layout", "元素"),
    Column("open_value", "any", "", "fused side", "融合值"),
    Column("close_value", "any", "", "original side", "原值"),
    Column("abs_error", "float", "", "|a-b|", "绝对误差", format="%.4e"),
)

_Element = Tuple[float, int, Any, Any]
"""Error, C-order position, both values."""


def worst_table(comparer: Comparer, rows: Sequence[Row]) -> Tuple[Table, ...]:
    """A table of the worst elements of the rows; none when nothing differs."""
    cells: List[Sequence[Cell]] = []
    for row in rows:
        try:
            aligned = comparer.aligned(row.pair)
            cells.extend(_cells(row, _worst(aligned.a, aligned.b), tuple(aligned.b.shape)))
        except (RowError, ValueError, TypeError, MemoryError):
            # The row itself says what is wrong with its files.
            continue
    if not cells:
        return ()
    return (Table("worst_elements", _COLUMNS, cells, "Worst elements"),)


def _cells(row: Row, elements: Sequence[_Element], shape: Tuple[int, ...]) -> Iterator[Sequence[Cell]]:
    pair = row.pair
    for rank, (error, position, a, b) in enumerate(elements, 1):
        index = tuple(int(place) for place in np.unravel_index(position, shape)) if shape else ()
        yield (
            pair.fused.name,
            pair.index,
            pair.side,
            pair.step,
            rank,
            text_of_shape(index),
            value_cell(a),
            value_cell(b),
            error,
        )


def _worst(a: Any, b: Any) -> List[_Element]:
    found: List[_Element] = []
    for piece in pieces(a, b):
        for block_a, block_b, positions in _blocks(piece.a, piece.b, piece.base, piece.steps):
            found = _merged(found, block_a, block_b, positions)
    return found


def _blocks(a: Array, b: Array, base: int, steps: Tuple[int, ...]) -> Iterator[Tuple[Array, Array, Array]]:
    """Parts of a piece of at most a block, cut along its first axes, with the plain position of each element."""
    if a.size <= _BLOCK or not a.ndim:
        positions = np.full(a.shape, base, np.int64)
        for axis, (extent, step) in enumerate(zip(a.shape, steps)):
            along = np.arange(extent, dtype=np.int64) * step
            positions += along.reshape([-1 if place == axis else 1 for place in range(a.ndim)])
        yield a, b, positions
        return
    rows = max(1, _BLOCK // max(1, a.size // a.shape[0]))
    for start in range(0, a.shape[0], rows):
        part = slice(start, start + rows)
        if a.shape[0] == 1:
            yield from _blocks(a[0], b[0], base, steps[1:])
        else:
            yield from _blocks(a[part], b[part], base + start * steps[0], steps)


def _merged(found: List[_Element], a: Array, b: Array, positions: Array) -> List[_Element]:
    left, right, where = decode(a).reshape(-1), decode(b).reshape(-1), positions.reshape(-1)
    errors = _errors(left, right)
    count = min(_ELEMENTS, errors.size)
    best = np.argpartition(-errors, count - 1)[:count] if count else np.empty(0, np.int64)
    fresh = [(float(errors[i]), int(where[i]), left[i].item(), right[i].item()) for i in best if errors[i] > 0]
    return sorted([*found, *fresh], key=lambda element: (-element[0], element[1]))[:_ELEMENTS]


def _errors(a: Array, b: Array) -> Array:
    """|a-b| as float64; infinite where one side is not finite and the other is not the same."""
    kind = np.complex128 if "c" in (a.dtype.kind, b.dtype.kind) else np.float64
    with np.errstate(all="ignore"):
        wide_a, wide_b = a.astype(kind), b.astype(kind)
        errors: Array = np.abs(wide_a - wide_b)
        same = (wide_a == wide_b) | (np.isnan(wide_a) & np.isnan(wide_b))
    errors = np.where(np.isnan(errors), np.inf, errors)
    return np.where(same, 0.0, errors)
