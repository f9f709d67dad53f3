"""`precision inspect`: what one dump file holds, tensor by tensor, with statistics; nothing is compared."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Iterator, List, Optional, Tuple

import numpy as np
from autofuse import __version__
from autofuse.cli.app import App
from autofuse.errors import AutofuseError
from autofuse.report.emit import emit
from autofuse.report.model import Cell, Column, Provenance, Report, Table
from autofuse_formats.layouts import is_plain

from autofuse_nwa_precision.alignment import cropped
from autofuse_nwa_precision.converters import Converters, View
from autofuse_nwa_precision.dumps.load import layout_word, open_dump
from autofuse_nwa_precision.dumps.names import parse_name
from autofuse_nwa_precision.dumps.npy import Npy
from autofuse_nwa_precision.dumps.raw import RawDump, RawOrigin, RawTensor
from autofuse_nwa_precision.dumps.tensor import Array
from autofuse_nwa_precision.dumps.values import elements, interpret
from autofuse_nwa_precision.metrics.pieces import pieces
from autofuse_nwa_precision.metrics.values import decode
from autofuse_nwa_precision.report.columns import text_of_shape
from autofuse_nwa_precision.statuses import OK, OK_EMPTY, RowError

__all__ = ["Statistics", "inspect_file", "statistics"]

_BLOCK = 1 << 20
"""Elements looked at together."""

_COLUMNS = (
    Column("tensor", "text", "", "input, output, and its index", "张量"),
    Column("dtype", "text", "", "element type", "数据类型"),
    Column("layout", "text", "", "stored layout", "格式"),
    Column("shape", "text", "", "stored shape", "形状"),
    Column("original_shape", "text", "", "shape without padding", "原始形状"),
    Column("bytes", "int", "", "size in the file", "字节"),
    Column("status", "text", "", "OK, or why it cannot be read", "状态"),
    Column("min", "any", "", "smallest finite value", "最小值", format="%.6g"),
    Column("max", "any", "", "largest finite value", "最大值", format="%.6g"),
    Column("mean", "float", "", "mean of the finite values", "均值", format="%.6g"),
    Column("nan", "int", "", "NaN", "NaN"),
    Column("inf", "int", "", "infinities of either sign", "Inf"),
    Column("zeros", "int", "", "zeros", "零元素数"),
    Column("origin", "text", "", "original operator and output", "原算子", hidden=True),
    Column("address", "text", "", "device address", hidden=True),
    Column("groups", "int", "", "groups of a grouped convolution's weight", hidden=True),
    Column("c0", "int", "", "C0 of the format word", hidden=True),
    Column("reason", "text", "", "details of the status", "原因", hidden=True),
)


@dataclass(frozen=True)
class Statistics:
    """Statistics of one tensor. None where no finite element gives one."""

    minimum: Any
    maximum: Any
    mean: Optional[float]
    nan: int
    inf: int
    zeros: int


def inspect_file(app: App, path: str, output_format: Optional[str], output: Optional[str]) -> None:
    """Writes the report of one dump file; AutofuseError when it is none."""
    try:
        dump = open_dump(path)
    except RowError as error:
        raise AutofuseError(
            error.reason.replace(f"{path}: ", ""), path, "an npy or raw dump file is expected"
        ) from None
    converters = Converters.of(app.host)
    rows = [_npy_row(path, dump)] if isinstance(dump, Npy) else [_raw_row(dump, t, converters) for t in dump.tensors]
    notes = [f"{row[0]}: {row[-1]}" for row in rows if row[-1]]
    report = Report(
        f"precision inspect {os.path.basename(path)}",
        (Table("tensors", _COLUMNS, rows),),
        lead=tuple(_lead(path, dump)),
        notes=tuple(notes),
        provenance=Provenance(app.command_line, (path,), {"autofuse": __version__}),
    )
    emit(app, report, output_format, output)


def statistics(tensor: View) -> Statistics:
    """Minimum, maximum, mean and counts, in blocks."""
    found = _Running()
    for piece in pieces(tensor, tensor):
        for block in _blocks(piece.a):
            found.add(decode(block))
    return found.result()


def _lead(path: str, dump: RawDump | Npy) -> Iterator[str]:
    if isinstance(dump, RawDump):
        operator, version = dump.operator or "an unnamed operator", dump.version or "-"
        yield f"{path}: raw dump of {operator}, version {version}, time {dump.time}"
        if dump.damage:
            yield f"damaged: {dump.damage}"
    else:
        yield f"{path}: npy"
    name = parse_name(os.path.basename(path))
    if name:
        words = ".".join(name.words)
        yield f"name: {words}, task {name.task}, time {name.timestamp}" + (
            f", {name.side} {name.index}" if name.side else ""
        )


def _npy_row(path: str, npy: Npy) -> List[Cell]:
    name = parse_name(os.path.basename(path))
    tensor = f"{name.side} {name.index}" if name and name.side else "array"
    layout = layout_word(name.layout) if name else ""
    head: List[Cell] = [
        tensor,
        npy.array.dtype.str,
        layout or None,
        text_of_shape(npy.array.shape),
        None,
        npy.array.nbytes,
    ]
    tail: List[Cell] = [None, None, None, None]
    try:
        array, kind = interpret(npy.array, npy.code, None, None)
    except RowError as error:
        return [*head, error.status, *_unknown(), *tail, error.reason]
    head[1] = kind.name if npy.array.dtype.str[:1] != ">" else f"{kind.name} (big-endian)"
    return [*head, *_statistics_cells(array), *tail, None]


def _raw_row(dump: RawDump, tensor: RawTensor, converters: Converters) -> List[Cell]:
    kind = tensor.type
    head: List[Cell] = [
        f"{tensor.side} {tensor.index}",
        kind.name if kind else f"type {tensor.type_number}",
        tensor.layout,
        text_of_shape(tensor.shape),
        text_of_shape(tensor.original_shape),
        tensor.size,
    ]
    tail: List[Cell] = [
        _origin(tensor.origin) if tensor.origin else None,
        hex(tensor.address),
        tensor.groups,
        tensor.c0,
    ]
    try:
        whole = dump.tensor(tensor.side, tensor.index)
    except RowError as error:
        return [*head, error.status, *_unknown(), *tail, error.reason]
    plain = cropped(whole, converters)
    padded = plain is None and not is_plain(whole.layout)
    said = "the original shape is not known or does not fit: the statistics include padding" if padded else None
    return [*head, *_statistics_cells(whole.array if plain is None else plain), *tail, said]


def _origin(origin: RawOrigin) -> str:
    return origin.name if origin.output_index is None else f"{origin.name}:{origin.output_index}"


def _statistics_cells(tensor: View) -> Tuple[Cell, ...]:
    found = statistics(tensor)
    status = OK if elements(tuple(tensor.shape)) else OK_EMPTY
    return (status, _cell(found.minimum), _cell(found.maximum), found.mean, found.nan, found.inf, found.zeros)


def _unknown() -> Tuple[Cell, ...]:
    return (None,) * 6


def _cell(value: Any) -> Cell:
    return value if value is None or isinstance(value, (int, float)) else str(value)


class _Running:
    """Statistics of the blocks seen so far. Complex numbers are taken by modulus."""

    def __init__(self) -> None:
        self.minimum: Any = None
        self.maximum: Any = None
        self.total = 0.0
        self.count = self.nan = self.inf = self.zeros = 0

    def add(self, block: Array) -> None:
        """Takes a block of decoded values."""
        values = np.abs(block) if block.dtype.kind == "c" else block
        self.zeros += int(np.count_nonzero(values == 0))
        if values.dtype.kind == "f":
            nan = int(np.count_nonzero(np.isnan(values)))
            finite = values[np.isfinite(values)]
            self.nan += nan
            self.inf += values.size - finite.size - nan
            values = finite
        if values.size:
            low, high = values.min().item(), values.max().item()
            self.minimum = low if self.minimum is None else min(self.minimum, low)
            self.maximum = high if self.maximum is None else max(self.maximum, high)
            self.total += float(values.sum(dtype=np.float64))
            self.count += values.size

    def result(self) -> Statistics:
        """The statistics of everything that was taken."""
        mean = self.total / self.count if self.count else None
        return Statistics(self.minimum, self.maximum, mean, self.nan, self.inf, self.zeros)


def _blocks(array: Array) -> Iterator[Array]:
    """Parts of at most a block, cut along the first axes."""
    if array.size <= _BLOCK or not array.ndim:
        yield array
        return
    rows = max(1, _BLOCK // max(1, array.size // array.shape[0]))
    for start in range(0, array.shape[0], rows):
        part = array[start : start + rows]
        if part.shape[0] == 1 and part.ndim > 1:
            yield from _blocks(part[0])
        else:
            yield part
