"""Text for human eyes: control characters made visible, widths in terminal columns, long names shortened.

Names come from hostile logs. Nothing here knows a format; escaping for HTML, XML or Markdown is with its reporter.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = ["display_width", "pad", "shorten", "visible"]

# C0 and C1 controls (ESC and CSI start terminal commands), marks that reorder or hide text, line separators,
# surrogates without a partner, and tag characters.
_HARMFUL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    """`text` with every control, reordering and invisible character as an escape: ESC becomes `\\x1b`."""
    if text.isascii() and text.isprintable():
        return text
    return _HARMFUL.sub(_escape, text)


def display_width(text: str) -> int:
    """Terminal columns of a text without control characters; CJK and full-width characters take two."""
    if text.isascii():
        return len(text)
    return sum(map(_char_width, text))


def pad(text: str, width: int, right: bool) -> str:
    """`text` filled with spaces to `width` columns, on the left when `right` aligned; longer text stays as it is."""
    fill = " " * (width - display_width(text))
    return fill + text if right else text + fill


def shorten(text: str, width: int) -> str:
    """`text` in at most `width` columns: the middle gives way to `…`, since names differ at both ends."""
    if display_width(text) <= width:
        return text
    head = _take(text, (width - 1) - (width - 1) // 2)
    tail = _take(text[::-1], (width - 1) // 2)[::-1]
    return f"{head}…{tail}"


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    if char in _SHORT:
        return _SHORT[char]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


@lru_cache(maxsize=4096)
def _char_width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _take(text: str, width: int) -> str:
    taken = 0
    for index, char in enumerate(text):
        taken += _char_width(char)
        if taken > width:
            return text[:index]
    return text
