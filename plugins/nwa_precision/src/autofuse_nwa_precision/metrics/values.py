"""The element types that tensors are compared in: how a numpy dtype is named in the kernel and what its bytes mean.

Reading files is left to the dump readers, arithmetic to the engines; ml_dtypes gives the meaning of the types it knows.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Any, Dict, Optional

import ml_dtypes
import numpy as np

__all__ = ["COMPLEX32", "FLOAT4_E1M2", "HIFLOAT8", "Code", "Element", "decode", "element", "is_supported"]

Array = np.ndarray[Any, Any]

HIFLOAT8 = np.dtype([("hifloat8", "u1")])
"""Bytes that hold hifloat8 values: view raw bytes as this dtype (ml_dtypes has no such type)."""
FLOAT4_E1M2 = np.dtype([("float4_e1m2", "u1")])
"""One float4_e1m2 value in the low half of each byte."""
COMPLEX32 = np.dtype([("real", "<f2"), ("imag", "<f2")])
"""A complex number of two float16."""


class Code(IntEnum):
    """How the native kernel names an element type; the numbers are those of `native/kernel.h`."""

    BOOL = 0
    I8 = 1
    I16 = 2
    I32 = 3
    I64 = 4
    U8 = 5
    U16 = 6
    U32 = 7
    U64 = 8
    F16 = 9
    BF16 = 10
    F32 = 11
    F64 = 12
    C32 = 13
    C64 = 14
    C128 = 15
    FLOAT_TABLE = 16
    """One byte that a table of 256 float32 decodes."""
    INT_TABLE = 17
    """One byte that a table of 256 int32 decodes."""


@dataclass(frozen=True)
class Element:
    """One element type: `family` is `int` (bool included), `real` or `complex`."""

    name: str
    code: Code
    family: str
    native: Any
    """The dtype in this machine's byte order."""
    swapped: bool
    """True when the array's byte order is not this machine's."""
    table: Optional[Array] = None
    """256 float32 or int32 values, for the table codes."""


_PLAIN: Dict[Any, Code] = {
    np.bool_: Code.BOOL,
    np.int8: Code.I8,
    np.int16: Code.I16,
    np.int32: Code.I32,
    np.int64: Code.I64,
    np.uint8: Code.U8,
    np.uint16: Code.U16,
    np.uint32: Code.U32,
    np.uint64: Code.U64,
    np.float16: Code.F16,
    ml_dtypes.bfloat16: Code.BF16,
    np.float32: Code.F32,
    np.float64: Code.F64,
    np.complex64: Code.C64,
    np.complex128: Code.C128,
}
_COMPLEX = (Code.C32, Code.C64, Code.C128)
_INT_TABLES = ("int4", "uint4", "int2", "uint2", "int1", "uint1")
_FLOAT_TABLE_PREFIXES = ("float8_", "float6_", "float4_")


def element(dtype: Any) -> Element:
    """The element type of a numpy dtype; TypeError names the dtype when it holds no numbers that can be compared."""
    return _element(np.dtype(dtype))


def is_supported(dtype: Any) -> bool:
    """Whether tensors of this dtype can be compared."""
    try:
        element(dtype)
    except TypeError:
        return False
    return True


def decode(array: Array) -> Array:
    """The values as numpy arithmetic understands them, in this machine's byte order; a copy where bytes must change.

    bf16 and the table types come as float32 or int32, complex32 as complex64; every value is exact.
    """
    kind = element(array.dtype)
    plain = array.astype(kind.native) if kind.swapped else array
    if kind.table is not None:
        decoded: Array = kind.table[plain.view(np.uint8)]
        return decoded
    if kind.code is Code.C32:
        joined: Array = np.empty(plain.shape, np.complex64)
        joined.real, joined.imag = plain["real"], plain["imag"]
        return joined
    if kind.code is Code.BOOL:
        # A hostile file may hold other bytes than 0 and 1.
        truth: Array = plain.view(np.uint8) != 0
        return truth
    return plain.astype(np.float32) if kind.code is Code.BF16 else plain


@lru_cache(maxsize=64)
def _element(dtype: Any) -> Element:
    native = dtype.newbyteorder("=")
    swapped = dtype.newbyteorder("=") != dtype
    if dtype.fields is not None:
        return _structured(dtype, native, swapped)
    code = _PLAIN.get(dtype.type)
    if code is None:
        code = _same_size(dtype)
    if code is not None:
        family = "complex" if code in _COMPLEX else "real" if code >= Code.F16 else "int"
        return Element(str(native.name), code, family, native, swapped)
    return _from_ml_dtypes(dtype)


def _same_size(dtype: Any) -> Optional[Code]:
    """C types of the same width as a sized one (`long long` beside `long`) are other scalar types to numpy."""
    if dtype.kind in "iufc" and dtype.type.__module__ == "numpy" and dtype.itemsize <= 16:
        sized = np.dtype(f"{dtype.kind}{dtype.itemsize}")
        same = dtype.kind in "iu" or np.finfo(sized).nmant == np.finfo(dtype).nmant
        return _PLAIN.get(sized.type) if same else None
    return None


def _structured(dtype: Any, native: Any, swapped: bool) -> Element:
    if native == COMPLEX32.newbyteorder("="):
        return Element("complex32", Code.C32, "complex", native, swapped)
    if dtype == HIFLOAT8:
        return Element("hifloat8", Code.FLOAT_TABLE, "real", dtype, False, _hifloat8_table())
    if dtype == FLOAT4_E1M2:
        return Element("float4_e1m2", Code.FLOAT_TABLE, "real", dtype, False, _float4_e1m2_table())
    raise TypeError(f"structured dtype {dtype} holds no tensor values")


def _from_ml_dtypes(dtype: Any) -> Element:
    name = str(dtype.name)
    if dtype.itemsize == 1 and getattr(ml_dtypes, name, None) is dtype.type:
        every_byte = np.arange(256, dtype=np.uint8).view(dtype)
        if name in _INT_TABLES:
            return Element(name, Code.INT_TABLE, "int", dtype, False, _frozen(every_byte.astype(np.int32)))
        if name.startswith(_FLOAT_TABLE_PREFIXES):
            return Element(name, Code.FLOAT_TABLE, "real", dtype, False, _frozen(every_byte.astype(np.float32)))
    raise TypeError(f"dtype {name} holds no numbers that can be compared")


def _frozen(table: Array) -> Array:
    table.setflags(write=False)
    return table


def _hifloat8_table() -> Array:
    """hifloat8: sign, a prefix code that says how many exponent bits follow, exponent, mantissa in what is left.

    Prefix 11, 10, 01: 4, 3, 2 exponent bits; 001: 1; 0001: none (exponent 0); 0000: 2^(mantissa - 23). The exponent's
    first bit is its sign, and its magnitude has a leading one that is not stored.
    """
    return _frozen(np.array([_hifloat8(byte) for byte in range(256)], dtype=np.float32))


def _hifloat8(byte: int) -> float:
    special = {0x00: 0.0, 0x80: float("nan"), 0x6F: float("inf"), 0xEF: float("-inf")}
    if byte in special:
        return special[byte]
    sign = -1.0 if byte & 0x80 else 1.0
    bits = format(byte & 0x7F, "07b")
    if bits.startswith("0000"):
        return sign * 2.0 ** (int(bits[4:], 2) - 23)
    prefix, width = next(pair for pair in _HIFLOAT8_PREFIXES if bits.startswith(pair[0]))
    exponent, mantissa = bits[len(prefix) : len(prefix) + width], bits[len(prefix) + width :]
    magnitude = int("1" + exponent[1:], 2) if width else 0
    power = -magnitude if exponent.startswith("1") else magnitude
    return sign * 2.0**power * (1 + int(mantissa, 2) / 2.0 ** len(mantissa))


_HIFLOAT8_PREFIXES = (("11", 4), ("10", 3), ("01", 2), ("001", 1), ("0001", 0))


def _float4_e1m2_table() -> Array:
    """float4_e1m2 has one exponent bit (bias 1) and two mantissa bits: quarters from 0 to 1.75, and no inf or NaN."""
    low_half = np.arange(256) & 0xF
    magnitude = (low_half & 7) / 4.0
    return _frozen(np.where(low_half & 8, -magnitude, magnitude).astype(np.float32))
