"""npy files as numpy writes them, without numpy.load: its cost per file and its refusal of `<f1` do not fit here.

The header is a Python literal of three keys and is read as such; pickles are never loaded. What the values mean is
left to `dumps.values`.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import Any, NamedTuple, Optional, Tuple

import numpy as np

from autofuse_nwa_precision.dtypes import MOST_AXES
from autofuse_nwa_precision.dumps.content import Content, content
from autofuse_nwa_precision.dumps.tensor import Array, Shape
from autofuse_nwa_precision.dumps.values import digits, elements
from autofuse_nwa_precision.statuses import NPY_LOAD_ERROR, RowError

__all__ = ["MAGIC", "Npy", "NpyHeader", "npy_header", "open_npy", "read_npy"]

MAGIC = b"\x93NUMPY"

_DESCR = re.compile(r"([<>|=]?)([a-zA-Z?])(\d*)")
_LONGEST_HEADER = 1 << 16
_NAMED = {"bfloat16": "V2", "float8_e5m2": "f1", "float8_e4m3fn": "V1"}
"""Type names that some writers put where a descr belongs."""


class Npy(NamedTuple):
    """The array as stored, and its descr without byte order: `f4`, `V2`, `f1`."""

    array: Array
    code: str


class NpyHeader(NamedTuple):
    """What an npy file says of its array; `start` is where the values begin."""

    dtype: Any
    code: str
    fortran: bool
    shape: Shape
    start: int


def open_npy(path: str) -> Npy:
    """Opens an npy file; RowError says why it holds no array."""
    return read_npy(content(path))


def read_npy(data: Content) -> Npy:
    """The array in the bytes of an npy file, as a view of them."""
    dtype, code, fortran, shape, start = npy_header(data)
    count = elements(shape)
    if count * dtype.itemsize > len(data) - start:
        raise _error(f"is truncated: {len(data) - start} of {digits(count * dtype.itemsize)} bytes of data")
    flat = np.frombuffer(data, dtype, count, start) if count else np.empty(0, dtype)
    try:
        array = flat.reshape(shape, order="F" if fortran else "C")
    except ValueError as error:
        raise _error(f"has a shape numpy cannot hold: {error}") from None
    return Npy(array, code)


def npy_header(data: Content) -> NpyHeader:
    """The header, whether or not the values are all there; RowError when it is none."""
    header, start = _header(data)
    descr, fortran, shape = _fields(header)
    return NpyHeader(*_dtype(descr), fortran, shape, start)


def _header(data: Content) -> Tuple[bytes, int]:
    head = data[:12]
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        raise _error("is an npz archive, not an npy file")
    if head[:6] != MAGIC:
        raise _error("is empty" if not head else "is no npy file")
    if len(head) < 10 or head[6] not in (1, 2, 3):
        raise _error(f"is an npy file of an unknown version {tuple(head[6:8])}")
    width = 2 if head[6] == 1 else 4
    size = int.from_bytes(head[8 : 8 + width], "little")
    start = 8 + width + size
    if size > _LONGEST_HEADER:
        raise _error(f"has a header of {size} bytes, which no tensor needs")
    if start > len(data):
        raise _error("is truncated: it ends inside the header")
    return bytes(data[8 + width : start]), start


@lru_cache(maxsize=4096)
def _fields(header: bytes) -> Tuple[Any, bool, Shape]:
    try:
        fields = ast.literal_eval(header.decode("utf-8").strip())
        descr, fortran, shape = fields["descr"], fields["fortran_order"], fields["shape"]
    except (ValueError, SyntaxError, TypeError, KeyError, RecursionError, MemoryError):
        raise _error("has a header that is not an npy header") from None
    whole = isinstance(shape, tuple) and all(type(extent) is int and extent >= 0 for extent in shape)
    if not whole or not isinstance(fortran, bool) or len(shape) > MOST_AXES:
        raise _error(f"has a header that is not an npy header: shape {str(shape)[:100]}")
    return str(descr) if isinstance(descr, str) else descr, fortran, shape


def _dtype(descr: Any) -> Tuple[Any, str]:
    if not isinstance(descr, str):
        raise _error("holds a structured array")
    return _dtype_of(descr)


@lru_cache(maxsize=256)
def _dtype_of(descr: str) -> Tuple[Any, str]:
    descr = _NAMED.get(descr, descr)
    match = _DESCR.fullmatch(descr)
    if not match:
        raise _error(f"has elements of an unknown kind {descr[:40]!r}")
    order, kind, size = match.groups()
    code = kind + size
    if kind == "O":
        raise _error("holds Python objects (a pickle), which are not read")
    if kind in "SUaMm":
        raise _error(f"holds text or times ({descr}), no numbers")
    if code in ("f1", "V1", "V2", "V4"):
        return np.dtype(f"V{size}"), code
    dtype = _number(order, kind, size)
    if dtype is None:
        raise _error(f"has elements of dtype {descr[:40]}, which no tensor has")
    return dtype, code


def _number(order: str, kind: str, size: str) -> Optional[Any]:
    allowed = {"f": "248", "i": "1248", "u": "1248", "c": ("8", "16"), "b": "1"}
    if kind == "?" and size in ("", "1"):
        return np.dtype(np.bool_)
    if kind not in allowed or size not in allowed[kind] or not size:
        return None
    return np.dtype(f"{order.replace('|', '')}{kind}{size}")


def _error(reason: str) -> RowError:
    return RowError(NPY_LOAD_ERROR, reason)
