"""What stored bytes mean: a view of them as the element type that the dump or the graph names, unpacked where packed.

Views, not copies: the metric kernel decodes bf16, fp8 and the like itself. Only types below 8 bits are unpacked, to one
byte per element, in blocks and into a file once they are large.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from typing import Any, Dict, Optional, Tuple

import ml_dtypes
import numpy as np

from autofuse_nwa_precision.dtypes import ElementType, element_type
from autofuse_nwa_precision.dumps.tensor import Array, Shape
from autofuse_nwa_precision.metrics.values import COMPLEX32, FLOAT4_E1M2, HIFLOAT8
from autofuse_nwa_precision.statuses import NPY_LOAD_ERROR, TRUNCATED, RowError

__all__ = ["digits", "elements", "from_bytes", "interpret", "numpy_dtype"]

_BLOCK = 1 << 20
"""Elements unpacked at a time."""
_IN_MEMORY = 1 << 25
"""Unpacked tensors up to this many bytes stay in memory."""

_SPECIAL: Dict[str, Any] = {
    "bfloat16": ml_dtypes.bfloat16,
    "hifloat8": HIFLOAT8,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e8m0": ml_dtypes.float8_e8m0fnu,
    "float6_e3m2": ml_dtypes.float6_e3m2fn,
    "float6_e2m3": ml_dtypes.float6_e2m3fn,
    "float4_e2m1": ml_dtypes.float4_e2m1fn,
    "float4_e1m2": FLOAT4_E1M2,
    "int4": ml_dtypes.int4,
    "int2": ml_dtypes.int2,
    "uint2": ml_dtypes.uint2,
    # Not every ml_dtypes has uint1; an unpacked bit is a small number all the same.
    "uint1": np.uint8,
    "complex32": COMPLEX32,
    "bool": np.bool_,
}

_OWN_MEANING = {"V2": "bfloat16", "f1": "float8_e5m2"}
"""Types that ml_dtypes alone writes with this descr; `V1` may be several."""


def numpy_dtype(kind: ElementType) -> Any:
    """The numpy dtype (little-endian) that the metric kernel understands for this type."""
    special = _SPECIAL.get(kind.name)
    return np.dtype(special) if special is not None else np.dtype(kind.name).newbyteorder("<")


def elements(shape: Shape) -> int:
    """The number of elements, exact for any shape a hostile file may claim."""
    count = 1
    for extent in shape:
        count *= extent
    return count


def digits(number: int) -> str:
    """A number for a message; one that no file can mean is not spelled out (Python refuses to from 4300 digits on)."""
    return str(number) if number < 1 << 128 else f"more than 2^{number.bit_length() - 1}"


def from_bytes(buffer: Any, offset: int, size: int, kind: ElementType, shape: Shape) -> Array:
    """The tensor of `shape` that `size` bytes at `offset` hold; RowError when they are too few."""
    count = elements(shape)
    needed = (count * kind.bits + 7) // 8
    # Some writers give each element a byte of its own. Where both readings fit (three 6-bit values), it is packed.
    if kind.packed and (size != count or size == needed):
        _require(size, needed)
        packed = np.frombuffer(buffer, np.uint8, needed, offset)
        return _shaped(_unpacked(packed, kind, count), shape)
    dtype = numpy_dtype(kind)
    _require(size, count * dtype.itemsize)
    return _shaped(np.frombuffer(buffer, dtype, count, offset) if count else np.empty(0, dtype), shape)


def interpret(
    array: Array, code: str, hint: Optional[ElementType], expected: Optional[Shape]
) -> Tuple[Array, ElementType]:
    """What an npy array means: `code` is its descr without byte order (`f4`, `V2`, `f1`), `hint` the graph's dtype.

    `expected` is the graph's shape, which tells packed 4-bit data from data with one element per byte.
    """
    if code in ("V2", "f1", "V1", "V4"):
        return _opaque(array, code, hint)
    found = element_type(str(array.dtype.name))
    if found is None:
        raise RowError(NPY_LOAD_ERROR, f"arrays of dtype {array.dtype} hold no tensor that can be compared")
    if hint is None or hint.name == found.name:
        return array, found
    if code == "u2" and hint.name == "bfloat16":
        return array.astype(np.uint16, copy=False).view(ml_dtypes.bfloat16), hint
    if code == "f4" and hint.name == "bfloat16":
        return _narrowed(array), hint
    if code in ("i1", "u1") and hint.bits <= 8 and hint.family in ("fp8", "int") and hint.name not in ("int8", "uint8"):
        return _small(array, hint, expected), hint
    return array, found


def _require(size: int, needed: int) -> None:
    if size < needed:
        raise RowError(TRUNCATED, f"the dump holds {size} bytes of a tensor that needs {digits(needed)}")


def _shaped(flat: Array, shape: Shape) -> Array:
    try:
        return flat.reshape(shape)
    except ValueError as error:
        raise RowError(NPY_LOAD_ERROR, f"has a shape numpy cannot hold: {error}") from None


def _opaque(array: Array, code: str, hint: Optional[ElementType]) -> Tuple[Array, ElementType]:
    """Bytes without meaning: numpy writes ml_dtypes types so."""
    raw = array.view(f"V{array.dtype.itemsize}")
    bits = 8 * array.dtype.itemsize
    if hint is not None and (hint.bits == bits or (bits == 8 and hint.bits < 8)):
        return raw.view(numpy_dtype(hint)), hint
    known = element_type(_OWN_MEANING.get(code))
    if known is not None:
        return raw.view(numpy_dtype(known)), known
    said = f"the graph says {hint.name}" if hint else "no graph gives their dtype"
    raise RowError(NPY_LOAD_ERROR, f"elements of dtype {code} have no meaning of their own: {said}")


def _small(array: Array, hint: ElementType, expected: Optional[Shape]) -> Array:
    count = elements(expected) if expected is not None and min(expected, default=0) >= 0 else array.size
    if hint.packed and count != array.size and (count * hint.bits + 7) // 8 == array.size:
        assert expected is not None
        flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        return _unpacked(flat, hint, count).reshape(expected)
    return array.view(numpy_dtype(hint))


def _narrowed(array: Array) -> Array:
    """The bf16 halves of float32 values, as a view, if no value needs more than bf16; else the array itself."""
    if array.dtype.byteorder == ">" or not array.flags.c_contiguous or array.size == 0:
        return array
    halves = array.reshape(-1).view(np.uint16)
    for start in range(0, halves.size, 2 * _BLOCK):
        if halves[start : start + 2 * _BLOCK : 2].any():
            return array
    narrow: Array = halves[1::2].view(ml_dtypes.bfloat16).reshape(array.shape)
    return narrow


def _unpacked(packed: Array, kind: ElementType, count: int) -> Array:
    """One element per byte, in its low bits; elements are packed from the low bit of the first byte up."""
    target = _room(count)
    weights = (1 << np.arange(kind.bits)).astype(np.uint8)
    # A block of 2^20 elements is a whole number of bytes for 1, 2, 4 and 6 bits.
    for start in range(0, count, _BLOCK):
        size = min(_BLOCK, count - start)
        first = start * kind.bits // 8
        bits = np.unpackbits(packed[first : first + (size * kind.bits + 7) // 8], bitorder="little")
        target[start : start + size] = bits[: size * kind.bits].reshape(size, kind.bits) @ weights
    return target.view(numpy_dtype(kind))


def _room(count: int) -> Array:
    if count <= _IN_MEMORY:
        return np.empty(count, np.uint8)
    with tempfile.TemporaryFile() as file:
        # Reserved, not sparse: a full disk is an error here, not a signal when a page is written.
        os.posix_fallocate(file.fileno(), 0, count)
        return np.frombuffer(mmap.mmap(file.fileno(), count), np.uint8)
