"""The layout of the tiling data as types, and bytes decoded by field name; `header` reads it from the source."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from typing import Any, Iterator, List, Tuple, Union

__all__ = ["UNPACKED", "Array", "LayoutError", "Scalar", "Struct", "Type", "decode", "leaves"]

UNPACKED = 1 << 16
"""A pack that bounds no alignment."""


class LayoutError(Exception):
    """The header holds something whose layout is not known here."""


@dataclass(frozen=True)
class Scalar:
    """A number; `code` is its letter in the module struct."""

    code: str
    size: int
    pointer: bool = False

    @property
    def cells(self) -> int:
        """How many numbers it holds."""
        return 1

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
    def cells(self) -> int:
        """How many numbers it holds."""
        return self.item.cells * self.count

    @property
    def align(self) -> int:
        """That of one item."""
        return self.item.align


@dataclass(frozen=True)
class _Member:
    """A field as declared; one without a name brings its own fields along (an anonymous struct, a base class)."""

    name: str
    kind: Type
    pack: int
    align: int


@dataclass
class Struct:
    """Named fields at their offsets; those of a union all begin at 0."""

    name: str
    union: bool = False
    fields: List[Tuple[str, Type, int]] = field(default_factory=list)
    size: int = 0
    align: int = 1
    cells: int = 0
    """How many numbers it holds, in its fields and theirs."""
    members: List[_Member] = field(default_factory=list)

    def add(self, name: str, kind: Type, pack: int, align: int = 0) -> None:
        """Puts a field behind those before it; `pack` bounds its alignment, `align` raises it."""
        self.members.append(_Member(name, kind, pack, align))

    def close(self, pack: int = UNPACKED, align: int = 0) -> None:
        """Places every field and pads the whole, `pack` and `align` being the struct's own; nothing takes no room."""
        end = 0
        for member in self.members:
            # A packed struct still places a field where alignas asks for it; #pragma pack bounds that as well.
            step = min(max(min(member.kind.align, pack), member.align), member.pack)
            offset = 0 if self.union else -(-end // step) * step
            self._place(member, offset)
            end = max(end, offset + _extent(member))
            self.align = max(self.align, step)
        self.align = max(self.align, align)
        self.cells = sum(member.kind.cells for member in self.members)
        self.size = -(-max(end, 1) // self.align) * self.align

    def _place(self, member: _Member, offset: int) -> None:
        if member.name or not isinstance(member.kind, Struct):
            self.fields.append((member.name, member.kind, offset))
            return
        self.fields += [(name, kind, offset + inner) for name, kind, inner in member.kind.fields]


Type = Union[Scalar, Array, Struct]


def decode(kind: Type, data: bytes, offset: int = 0) -> Any:
    """The value at `offset`: a dict, a list or a number. nan and inf become the strings JSON outputs use for them."""
    if isinstance(kind, Struct):
        return {name: decode(item, data, offset + at) for name, item, at in kind.fields}
    if isinstance(kind, Array):
        if isinstance(kind.item, Scalar) and kind.item.code not in "efd":
            return list(struct.unpack_from(f"<{kind.count}{kind.item.code}", data, offset))
        return [decode(kind.item, data, offset + index * kind.item.size) for index in range(kind.count)]
    return _finite(struct.unpack_from(f"<{kind.code}", data, offset)[0])


def leaves(kind: Type, path: str = "", offset: int = 0) -> Iterator[Tuple[str, Scalar, int]]:
    """Path as C++ writes it, type and offset of every number; of an array the first item stands for all."""
    if isinstance(kind, Struct):
        for name, item, at in kind.fields:
            yield from leaves(item, f"{path}.{name}" if path else name, offset + at)
    elif isinstance(kind, Array):
        if kind.count:
            yield from leaves(kind.item, f"{path}[0]", offset)
    else:
        yield path, kind, offset


def _extent(member: _Member) -> int:
    """Bytes that the member takes; a base class without fields takes none."""
    empty = not member.name and isinstance(member.kind, Struct) and not member.kind.fields
    return 0 if empty else member.kind.size


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return value
