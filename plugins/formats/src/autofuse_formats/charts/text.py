"""How wide a text will be and how to shorten it, without knowing the reader's font; XML escaping.

Widths are those of DejaVu Sans, one of the widest fonts for screens, so that a text takes at most the room it is given.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Tuple

from autofuse_formats.reporters.visible import visible

__all__ = ["compact_label", "escaped", "is_measured", "number_label", "shortened", "text_width", "whole"]

# Advance widths of the characters 32 to 126 in hundredths of the font size.
_WIDTHS = (
    32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79,
    60, 79, 69, 63, 61, 73, 68, 99, 69, 61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63,
    63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84,
)  # fmt: skip
_LONGEST = 2000
"""Characters of a name that are kept for its tooltip."""


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Upper estimate of the width in pixels."""
    width = sum(map(_char_width, text)) * size
    # Bold glyphs are wider by a share of their width and a constant.
    return width * 1.05 + 0.06 * size * len(text) if bold else width


def shortened(text: str, room: float, size: float, bold: bool = False) -> Tuple[str, bool]:
    """The text within `room` pixels, its middle replaced by `…` where it is longer, and whether it was."""
    text = visible(text)
    if text_width(text[:_LONGEST], size, bold) <= room and len(text) <= _LONGEST:
        return text, False
    half = (room - text_width("…", size, bold)) / 2
    head = _fitting(text, half, size, bold)
    tail = _fitting(text[: -_LONGEST - 1 : -1], half, size, bold)[::-1]
    return f"{head}…{tail}", True


def escaped(text: str) -> str:
    """`text` as XML character data or attribute value; control characters become visible escapes."""
    text = visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace('"', "&quot;").replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")


def whole(text: str) -> str:
    """The text for a tooltip: whole, unless it is endless."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"


def is_measured(text: str) -> bool:
    """Whether `text_width` is sure to be an upper limit: ASCII, CJK and the marks that charts use."""
    return all(char.isascii() or char in "…★–µ·×−" or _is_wide(char) for char in text)


def number_label(value: float) -> str:
    """A short label: five digits, thousands separated, powers of ten beyond 10^7 and below 10^-3."""
    if value == 0:
        return "0"
    if not 1e-3 <= abs(value) < 1e7:
        mantissa, _, exponent = f"{value:.3e}".partition("e")
        return f"{_trimmed(mantissa)}e{int(exponent)}"
    digits = max(0, 4 - len(str(int(abs(value)))) + (1 if abs(value) >= 1 else 2))
    return _trimmed(f"{value:,.{digits}f}")


def compact_label(value: float) -> str:
    """A label of few digits for narrow places: 81920 is `81.9k`."""
    for unit, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if 1e4 <= abs(value) < 1e12 and abs(value) >= factor:
            return f"{value / factor:.3g}{unit}" if abs(value) / factor < 999.5 else f"{value / factor:.0f}{unit}"
    return number_label(value) if abs(value) < 1e-3 or abs(value) >= 1000 else f"{value:.3g}"


def _fitting(text: str, room: float, size: float, bold: bool) -> str:
    used = 0.0
    for index, char in enumerate(text):
        used += text_width(char, size, bold)
        if used > room:
            return text[:index]
    return text


@lru_cache(maxsize=4096)
def _char_width(char: str) -> float:
    code = ord(char)
    if 32 <= code < 127:
        return _WIDTHS[code - 32] / 100
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0.0
    return 1.0


@lru_cache(maxsize=4096)
def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF" and unicodedata.category(char) in ("Lo", "Po", "Ps", "Pe")


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text
