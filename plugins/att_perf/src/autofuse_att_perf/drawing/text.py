"""Text in the drawing: escaped, measured as a wide monospace font, and shortened so that it stays in its box."""

from __future__ import annotations

import math
import re
import unicodedata
from functools import lru_cache
from typing import List, Optional

__all__ = ["amount", "escape", "fitted", "label", "percent", "shorten", "width"]

_CELL = 0.605
"""Width of a character of the usual monospace fonts, in em."""
_WIDE = 1.05
_MAX_TITLE = 2000

# What XML 1.0 does not allow, and what would turn the direction of everything behind it.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u202a-\u202e\u2066-\u2069]")
_SPECIAL = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
_NEEDS_ESCAPE = re.compile("[&<>\"']")
_PLAIN = re.compile(r"[\w .,:;+*/()=%|#@!?^~-]*\Z", re.ASCII)


def escape(text: str) -> str:
    """`text` for XML content and attributes; characters that XML cannot hold become U+FFFD."""
    if _PLAIN.match(text):
        return text
    text = _FORBIDDEN.sub("\ufffd", text)
    return _NEEDS_ESCAPE.sub(lambda match: _SPECIAL[match[0]], text)


def width(text: str, size: float) -> float:
    """Pixels that `text` takes at most at font size `size`."""
    if text.isascii():
        return len(text) * _CELL * size
    return sum(_em(character) for character in text) * size


@lru_cache(maxsize=4096)
def _em(character: str) -> float:
    if character.isascii():
        return _CELL
    if unicodedata.combining(character):
        return 0.0
    return _WIDE if unicodedata.east_asian_width(character) in "WF" else 1.0


def shorten(text: str, room: float, size: float) -> str:
    """`text`, or as much of its two ends as fits into `room` pixels with an ellipsis between."""
    text = " ".join(text.split()) if not text.isprintable() else text
    if width(text, size) <= room:
        return text
    budget = room / size - 1.0
    if budget <= 0:
        return "…" if room >= size else ""
    head: List[str] = []
    tail: List[str] = []
    left = math.ceil(len(text) / 2)
    # Names differ at their ends as often as at their beginnings, so both are kept.
    for forward, backward in zip(text[:left], text[: -left - 1 : -1]):
        for character, end in ((forward, head), (backward, tail)):
            budget -= _em(character)
            if budget < 0:
                return "".join(head) + "…" + "".join(reversed(tail))
            end.append(character)
    return "".join(head) + "…" + "".join(reversed(tail))


@lru_cache(maxsize=65536)
def fitted(text: str, room: float, size: float) -> str:
    """The content of a `<text>` that takes at most `room` pixels; a shortened one has the whole text as its title."""
    shown = shorten(text, room, size)
    title = "" if shown == text else f"<title>{escape(text[:_MAX_TITLE])}</title>"
    return title + escape(shown)


def label(text: str, x: float, y: float, room: float, size: float, css: str) -> str:
    """One `<text>` that takes at most `room` pixels."""
    # Most labels are used once: those that need no work do not go through the cache.
    plain = len(text) * _CELL * size <= room and _PLAIN.match(text)
    return f'<text class="{css}" x="{x:g}" y="{y:g}">{text if plain else fitted(text, room, size)}</text>'


def amount(value: Optional[float]) -> str:
    """Cycles for people: two decimals, thousands as they are, very large ones in powers of ten."""
    if value is None:
        return "?"
    size = abs(value)
    if 0.01 <= size < 1e5:
        return f"{value:.0f}" if value.is_integer() else f"{value:.2f}"
    if not size < 1e10:
        return f"{value:.4g}"
    return f"{value:.0f}" if size >= 1e5 or size == 0 else f"{value:.2g}"


def percent(value: Optional[float]) -> str:
    """A share, without decimals where they say nothing."""
    if value is None:
        return ""
    size = abs(value)
    if size < 1e6:
        return f"{value:.0f}%" if size >= 9.95 or size == 0 else f"{value:.1f}%"
    return f"{value:.1e}%" if size < math.inf else ""
