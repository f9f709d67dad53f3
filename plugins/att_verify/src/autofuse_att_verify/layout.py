"""The layout of the tiling data as types, and bytes decoded by field name; `header` reads it from the source."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from typing import Any, List, Tuple, Union

__all__ = ["Array", "LayoutError", "Scalar", "Struct", "Type", "decode"]


class LayoutError(Exception):
    """The header holds something whose layout is not known here."""


@dataclass(frozen=True)
class Scalar:
    """A number; `code` is its letter in the module struct."""

    code: str
    size: int

    @property
    def align(self) -> int:
        """Natural alignment on x86-64 and aarch64."""
        return self.size


@dataclass(frozen=True)
class Array:
    """`count` items of one type."""

    item: Type
    count: int

    @property
    def size(self) -> int:
        """Bytes of all items."""
        return self.item.size * self.count

    @property
    def align(self) -> int:
        """That of one item."""
        return self.item.align


@dataclass
class Struct:
    """Named fields at their offsets."""

    name: str
    fields: List[Tuple[str, Type, int]] = field(default_factory=list)
    size: int = 0
    align: int = 1

    def add(self, name: str, kind: Type, pack: int, align: int = 0) -> None:
        """Puts a field after those before it; `pack` bounds its alignment, `align` raises it."""
        step = max(min(kind.align, pack), align)
        offset = -(-self.size // step) * step
        self.fields.append((name, kind, offset))
        self.size = offset + kind.size
        self.align = max(self.align, step)

    def close(self) -> None:
        """Pads to the alignment; an empty struct has one byte."""
        self.size = max(1, -(-self.size // self.align) * self.align)


Type = Union[Scalar, Array, Struct]


def decode(kind: Type, data: bytes, offset: int = 0) -> Any:
    """The value at `offset`: a dict, a list or a number. nan and inf become the strings JSON outputs use for them."""
    if isinstance(kind, Struct):
        return {name: decode(item, data, offset + at) for name, item, at in kind.fields}
    if isinstance(kind, Array):
        if isinstance(kind.item, Scalar) and kind.item.code not in "fd":
            return list(struct.unpack_from(f"<{kind.count}{kind.item.code}", data, offset))
        return [decode(kind.item, data, offset + index * kind.item.size) for index in range(kind.count)]
    return _finite(struct.unpack_from(f"<{kind.code}", data, offset)[0])


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return value
