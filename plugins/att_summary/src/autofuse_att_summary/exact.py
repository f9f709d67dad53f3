"""Numbers as they were logged, as exact decimals: nothing that a double can hold is rounded when they are subtracted.

Which text is a number is decided here for the commands that compute; the parsers of log lines have their own grammar.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal
from functools import lru_cache
from typing import Optional

__all__ = ["EXACT", "exact", "fixed", "percent"]

EXACT = Context(prec=1000, traps=[])
"""Adds and subtracts doubles printed by `%f` (309 digits before the point) without rounding; never raises."""
_RATIO = Context(prec=40, traps=[])

_NUMBER = re.compile(
    r"\s*[-+]?(?:nan|inf(?:inity)?|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e([-+]?[0-9]+))?)\s*\Z", re.IGNORECASE | re.ASCII
)
_LARGEST_POWER = 400
"""Of ten, in a number with an exponent; doubles end at 10 ** 308."""


@lru_cache(maxsize=1 << 14)
def exact(text: Optional[str]) -> Optional[Decimal]:
    """The number that the text is, nan and the infinities included; None for any other text.

    Exponents beyond those of doubles give what C makes of them, an infinity or 0: `1e999999` must not cost a megabyte
    of digits.
    """
    match = _NUMBER.match(text) if text is not None else None
    if text is None or match is None:
        return None
    exponent = match.group(1) or ""
    if len(exponent) > 6:
        return Decimal(float(text))
    value = Decimal(text.strip())
    return Decimal(float(text)) if exponent and abs(value.adjusted()) > _LARGEST_POWER else value


def percent(part: Decimal, whole: Decimal) -> float:
    """`part` in percent of `whole`; infinite or nan where `whole` is 0 or one of them is no number."""
    # More digits than doubles have, so that 3.0000000000000001 % is not taken for 3 %, and few enough to be fast.
    return float(_RATIO.multiply(_RATIO.divide(part, whole), Decimal(100)))


def fixed(value: Decimal) -> str:
    """The number without an exponent; `inf` and `-inf` for the infinities."""
    return format(value, "f") if value.is_finite() else ("inf" if value > 0 else "-inf")
