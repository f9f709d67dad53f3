"""From a dump file and what the graph says about it to the tensor it holds, whichever kind of file it is."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Optional, Union

import numpy as np
from autofuse_formats.layouts import plain_or_nd

from autofuse_nwa_precision.dumps.content import content
from autofuse_nwa_precision.dumps.index import DumpFile
from autofuse_nwa_precision.dumps.npy import MAGIC, Npy, npy_header, open_npy, read_npy
from autofuse_nwa_precision.dumps.raw import RawDump, read_raw
from autofuse_nwa_precision.dumps.tensor import Array, Shape, Tensor
from autofuse_nwa_precision.dumps.values import elements, interpret
from autofuse_nwa_precision.graphs.model import Origin, TensorDesc
from autofuse_nwa_precision.statuses import RowError

__all__ = ["Located", "Stored", "load", "open_dump", "output_count", "raw_origin", "stored_as"]

_LAYOUT_WORD = re.compile(r"[A-Z][A-Za-z0-9]*(?:_[A-Z0-9]+)*")
_NOTHING = TensorDesc()
_MOST_OUTPUTS = 1 << 12
"""A larger index in a file's name is no output of any operator."""


@dataclass(frozen=True)
class Located:
    """One tensor of one dump file, with what its graph says about it."""

    dump: DumpFile
    side: str
    index: int
    desc: TensorDesc = _NOTHING

    @property
    def path(self) -> str:
        """The dump file's path."""
        return self.dump.path


class Stored(NamedTuple):
    """How a file says that it stores a tensor; "" for what it does not say."""

    dtype: str
    shape: Shape
    layout: str


def load(located: Located) -> Tensor:
    """The tensor; RowError with the status of the row when the file does not give it."""
    path = located.path
    opened = open_npy(path) if path.endswith(".npy") else open_dump(path)
    if isinstance(opened, RawDump):
        return _completed(opened.tensor(located.side, located.index), located.desc)
    return _from_npy(path, opened, located)


def stored_as(located: Located) -> Optional[Stored]:
    """What the file's header says of the tensor, though its values may not be there; None when it says nothing."""
    try:
        data = content(located.path)
        if data[:6] == MAGIC:
            header = npy_header(data)
            _, kind = interpret(np.empty(0, header.dtype), header.code, located.desc.dtype, None)
            return Stored(kind.name, header.shape, layout_word(located.dump.name.layout) or located.desc.layout)
        tensor = read_raw(located.path, data).find(located.side, located.index)
    except RowError:
        return None
    return None if tensor.shapeless else Stored(tensor.type.name if tensor.type else "", tensor.shape, tensor.layout)


def open_dump(path: str) -> Union[Npy, RawDump]:
    """Opens a dump file by its content; the last ones stay open: each output of an operator asks for the same one."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return _opened(path)
    return _remembered(path, status.st_mtime_ns, status.st_size, status.st_ino)


@lru_cache(maxsize=64)
def _remembered(path: str, *_state: int) -> Union[Npy, RawDump]:
    """A file is the same one as long as its state is."""
    return _opened(path)


def _opened(path: str) -> Union[Npy, RawDump]:
    data = content(path)
    return read_npy(data) if data[:6] == MAGIC else read_raw(path, data)


def output_count(dump: DumpFile) -> int:
    """How many outputs of its operator a dump file shows to exist."""
    if dump.name.side:
        return dump.name.index + 1 if dump.name.side == "output" and dump.name.index < _MOST_OUTPUTS else 0
    try:
        opened = open_dump(dump.path)
    except RowError:
        return 0
    return sum(tensor.side == "output" for tensor in opened.tensors) if isinstance(opened, RawDump) else 0


def raw_origin(located: Located) -> Optional[Origin]:
    """The mapping that a raw dump itself gives for an output; None where there is none."""
    if located.path.endswith(".npy"):
        return None
    opened = open_dump(located.path)
    origin = opened.find(located.side, located.index).origin if isinstance(opened, RawDump) else None
    if origin is None or origin.output_index is None:
        return None
    return Origin((origin.name,), origin.output_index, origin.layout)


def _from_npy(path: str, npy: Npy, located: Located) -> Tensor:
    desc = located.desc
    array, kind = interpret(npy.array, npy.code, desc.dtype, desc.shape)
    named = layout_word(located.dump.name.layout)
    layout, groups = _with_groups(named or desc.layout)
    if _is_flat(array, layout, desc.shape):
        assert desc.shape is not None
        array = array.reshape(desc.shape)
    elif not named and desc.shape is not None and len(desc.shape) != array.ndim:
        # A converter has been here: the file no longer has the layout of the graph.
        layout = ""
    tensor = Tensor(path, array, kind, layout, groups=groups)
    return _completed(tensor, desc)


def _is_flat(array: Array, layout: str, shape: Optional[Shape]) -> bool:
    """Whether a file holds as one row of elements what the graph gives axes with a meaning."""
    if array.ndim != 1 or shape is None or len(shape) < 2 or not layout or plain_or_nd(layout, len(shape)) == "ND":
        return False
    return min(shape) > 0 and elements(shape) == array.size


def _completed(tensor: Tensor, desc: TensorDesc) -> Tensor:
    """Adds what only the graph knows."""
    origin_layout = tensor.origin_layout or desc.origin_layout or (desc.origin.layout if desc.origin else "")
    known = desc.origin_shape is not None and min(desc.origin_shape, default=0) >= 0
    original: Optional[Shape] = tensor.original_shape or (desc.origin_shape if known else None)
    return Tensor(
        tensor.path,
        tensor.array,
        tensor.type,
        tensor.layout,
        original,
        tensor.groups,
        tensor.c0,
        origin_layout,
    )


def layout_word(words: str) -> str:
    """The layout among the words behind the index of a file name; dims (`1x2x3`, `1_2_3`) are none."""
    return next((word for word in words.split(".") if _LAYOUT_WORD.fullmatch(word)), "")


def _with_groups(layout: str) -> tuple[str, int]:
    """`FRACTAL_Z:8` as some graphs write a grouped weight."""
    name, _, groups = layout.partition(":")
    return name, int(groups) if groups.isdigit() and groups.isascii() and 0 < len(groups) < 6 else 1
