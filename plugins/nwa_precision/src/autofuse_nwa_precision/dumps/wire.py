"""Protobuf's wire format, as far as dump headers use it: fields of a message, varints, packed integers.

A reader of sixty lines instead of the protobuf package: the header has a handful of fields, unknown ones are to be
skipped, and a damaged header must give one status, not an exception of a library's own.
"""

from __future__ import annotations

from typing import Iterator, List, Tuple, Union

__all__ = ["Field", "WireError", "fields", "varints"]

Field = Tuple[int, Union[int, memoryview]]
"""Field number and value: an int, or the bytes of a string, message or packed list."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MASK = (1 << 64) - 1


class WireError(ValueError):
    """The bytes are no protobuf message."""


def fields(message: memoryview) -> Iterator[Field]:
    """The fields of a message in order; WireError when it is damaged."""
    at, end = 0, len(message)
    while at < end:
        tag, at = _varint(message, at)
        number, kind = tag >> 3, tag & 7
        if number == 0:
            raise WireError(f"field number 0 at byte {at}")
        if kind == _VARINT:
            value, at = _varint(message, at)
            yield number, value
            continue
        if kind == _BYTES:
            size, at = _varint(message, at)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise WireError(f"wire type {kind} at byte {at}")
        if size > end - at:
            raise WireError(f"a field of {size} bytes at byte {at} of {end}")
        content = message[at : at + size]
        at += size
        yield number, content if kind == _BYTES else int.from_bytes(content, "little")


def varints(value: Union[int, memoryview]) -> List[int]:
    """The numbers of one occurrence of a repeated integer: packed, or a single one."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        number, at = _varint(value, at)
        found.append(number)
    return found


def _varint(message: memoryview, at: int) -> Tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(message):
            raise WireError(f"the message ends inside a number at byte {at}")
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & _MASK, at
        shift += 7
        if shift > 63:
            raise WireError(f"a number of more than 10 bytes at byte {at}")
