"""Text that a spreadsheet would run as a formula: guarded in CSV without loss, so that whoever reads it gets it back.

The csv reporter guards its text cells; commands that read summary CSVs take the guard away.
"""

from __future__ import annotations

import re

__all__ = ["FORMULA_STARTS", "guarded", "unguarded"]

FORMULA_STARTS = frozenset("'=+-@\t\r")
"""First characters of a text that `guarded` may change; no other text is touched."""

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")
_HARMLESS = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?\s?%?|[-+]?(?:nan|inf)|[-+]", re.IGNORECASE)


def guarded(text: str) -> str:
    """`text` with one apostrophe in front when it starts with `=`, `+`, `-`, `@`, tab or carriage return.

    A plain number, a percentage, nan and inf stay as they are. A text that already has apostrophes before such a
    character gets one more, so that `unguarded` always gives the text back.
    """
    if _FORMULA.match(text) and not _HARMLESS.fullmatch(text):
        return f"'{text}"
    return text


def unguarded(text: str) -> str:
    """The text that `guarded` was given."""
    return text[1:] if _GUARDED.match(text) else text
