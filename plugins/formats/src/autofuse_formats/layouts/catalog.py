"""The converters by the names that the specs of the plugin use: `catalog:NC1HWC0_to_NHWC`.

Names are made on demand from the layout tables, so that the table of rules is the only list of layouts.
"""

from __future__ import annotations

from typing import Optional

from .convert import PLAIN, Converter, MatrixConverter, NamedConverter, PermutedConverter, UnnamedConverter
from .rules import MATRIX_LAYOUTS, RULES

__all__ = ["converter"]


def converter(stored: str, plain: str) -> Optional[Converter]:
    """The converter of a pair, or None where the pair makes no sense (another rank, an unknown name)."""
    if stored in MATRIX_LAYOUTS:
        return MatrixConverter(stored, plain) if plain == "ND" else None
    if stored in RULES:
        return _named(stored, plain)
    if stored in PLAIN and plain in PLAIN and set(stored) == set(plain) and stored != plain:
        return PermutedConverter(stored, plain)
    return None


def _named(stored: str, plain: str) -> Optional[Converter]:
    if plain == "ND":
        return UnnamedConverter(stored, plain)
    letters = set(RULES[stored].letters)
    usual = plain in RULES[stored].common
    return NamedConverter(stored, plain) if plain in PLAIN and (usual or set(plain) == letters) else None


def __getattr__(name: str) -> Converter:
    stored, _, plain = name.partition("_to_")
    found = converter(stored, plain)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found
