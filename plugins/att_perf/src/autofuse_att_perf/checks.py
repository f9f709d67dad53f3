"""Formula value against logged value: equal to all decimals of the log, or shown as what it is."""

from __future__ import annotations

import math
from typing import NamedTuple, Optional, Sequence

from autofuse_att_perf.evaluate import number

__all__ = ["Check", "adds_up", "compare", "logged_number"]

_PERF_DIGITS = 0.01
_TOLERANCE = 1e-6
"""Relative and absolute: the log has six decimals."""


class Check(NamedTuple):
    """One quantity of one template, by formula and by log."""

    quantity: str
    """A pipe, `objective`, `ub_size`, `block_dim`, or `NODE PIPE` for the total of a [PERF] line."""
    formula: Optional[float]
    logged: Optional[str]
    difference: Optional[float]
    relative: Optional[float]
    status: str
    """`ok`, `mismatch`, `missing_symbol`, `error`, `not_logged` (nothing to compare with), `no_formula`."""
    note: str = ""
    origin: str = "source"


def compare(
    quantity: str, formula: Optional[float], logged: Optional[str], note: str = "", origin: str = "source"
) -> Check:
    """The check of one quantity; `note` says why there is no formula value."""
    value = logged_number(logged)
    if formula is None:
        return Check(quantity, None, logged, None, None, "no_formula", note, origin)
    if value is None:
        return Check(quantity, formula, logged, None, None, "not_logged", note, origin)
    if formula == value or (math.isnan(formula) and math.isnan(value)):
        return Check(quantity, formula, logged, 0.0, 0.0, "ok", note, origin)
    difference = formula - value
    relative = difference / abs(value) if value and math.isfinite(value) else None
    close = abs(difference) <= _TOLERANCE or (relative is not None and abs(relative) <= _TOLERANCE)
    return Check(quantity, formula, logged, difference, relative, "ok" if close else "mismatch", note, origin)


def adds_up(values: Sequence[float], total: float) -> bool:
    """Whether terms of a [PERF] line are its total, as far as the digits go that such a line prints."""
    whole = sum(values)
    if whole == total or (math.isnan(whole) and math.isnan(total)):
        return True
    # Four or five digits: 172.2 + 27.01 may be printed as 199.2.
    return abs(whole - total) <= max(_PERF_DIGITS * len(values), 1e-9 * abs(total))


def logged_number(text: Optional[str]) -> Optional[float]:
    """The logged text as a number; None when there is none or it is no number."""
    if text is None:
        return None
    try:
        return float(number(text))
    except (ValueError, OverflowError):
        return None
