"""The element types of dumps and graphs: names, the numbers of GE's `DataType`, bits per element, precision class.

How the bytes of a type are read is in `dumps.values`; this module imports no numpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Optional

__all__ = ["BY_NUMBER", "FAMILIES", "MOST_AXES", "ElementType", "element_type", "lower_precision"]


MOST_AXES = 32
"""The rank that every numpy can hold; what claims more is no tensor."""


@dataclass(frozen=True)
class ElementType:
    """One element type; `name` is the one that reports and tolerance files use."""

    name: str
    bits: int
    family: str
    """Tolerance class: `fp64`, `fp32`, `fp16`, `bf16`, `fp8`, `int` or `bool`."""

    @property
    def packed(self) -> bool:
        """True when several elements share one byte."""
        return self.bits < 8


def _types(family: str, **bits: int) -> Dict[str, ElementType]:
    return {name: ElementType(name, size, family) for name, size in bits.items()}


_TYPES: Dict[str, ElementType] = {
    **_types("fp64", float64=64, complex128=128),
    **_types("fp32", float32=32, complex64=64),
    **_types("fp16", float16=16, complex32=32),
    **_types("bf16", bfloat16=16),
    # 4- and 6-bit floats get the tolerance of fp8: the published table has no class below it.
    **_types("fp8", hifloat8=8, float8_e5m2=8, float8_e4m3fn=8, float8_e8m0=8),
    **_types("fp8", float6_e3m2=6, float6_e2m3=6, float4_e2m1=4, float4_e1m2=4),
    **_types("int", int8=8, int16=16, int32=32, int64=64, uint8=8, uint16=16, uint32=32, uint64=64),
    **_types("int", int4=4, uint1=1, int2=2, uint2=2),
    **_types("bool", bool=8),
}

# GE's DataType of ge_ir.proto, which raw dumps use as well.
_NUMBERS = {
    1: "float32", 2: "float16", 3: "int8", 4: "uint8", 5: "int16", 6: "uint16", 7: "int32", 8: "int64", 9: "uint32",
    10: "uint64", 11: "bool", 12: "float64", 16: "complex64", 17: "complex128", 27: "bfloat16", 28: "int4",
    29: "uint1", 30: "int2", 31: "uint2", 32: "complex32", 33: "hifloat8", 34: "float8_e5m2", 35: "float8_e4m3fn",
    36: "float8_e8m0", 37: "float6_e3m2", 38: "float6_e2m3", 39: "float4_e2m1", 40: "float4_e1m2",
}  # fmt: skip
BY_NUMBER: Dict[int, ElementType] = {number: _TYPES[name] for number, name in _NUMBERS.items()}
"""GE's number of a type → the type; numbers that hold no tensor data (string, resource) are absent."""

_ALIASES = {
    "float": "float32",
    "double": "float64",
    "bf16": "bfloat16",
    "half": "float16",
    "float8_e8m0fnu": "float8_e8m0",
}
FAMILIES = ("bool", "int", "fp64", "fp32", "fp16", "bf16", "fp8")
"""Tolerance classes; of two sides the later one counts."""


def element_type(name: object) -> Optional[ElementType]:
    """The type that `DT_FLOAT16`, `float16`, `FLOAT` or a number of GE's enumeration names; None when it names none."""
    if isinstance(name, bool) or name is None:
        return None
    if isinstance(name, int):
        return BY_NUMBER.get(name)
    plain = str(name).strip()
    plain = plain[3:] if plain.upper().startswith("DT_") else plain
    plain = plain.lower()
    return _TYPES.get(_ALIASES.get(plain, plain))


def lower_precision(a: ElementType, b: ElementType) -> ElementType:
    """The one of two types whose tolerance counts: the coarser float, a float before an integer, that before bool."""
    return a if FAMILIES.index(a.family) >= FAMILIES.index(b.family) else b
