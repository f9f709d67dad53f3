"""Charts of the comparison: how many digits agree at each fused output, and how the errors of the worst rows spread."""

from __future__ import annotations

import math
from typing import List, Sequence, Tuple

from autofuse.report.model import Chart, Series

from autofuse_nwa_precision.blame import ROOT
from autofuse_nwa_precision.metrics import Histogram
from autofuse_nwa_precision.pairing import OUTPUT
from autofuse_nwa_precision.rows import Row

__all__ = ["charts_of", "worst_rows"]

_MOST_DIGITS = 16.0
"""Decimal digits of a float64: what an exact row shows."""
_MOST_BARS = 80
_MOST_HISTOGRAMS = 12
_MOST_BINS = 32


def charts_of(rows: Sequence[Row]) -> Tuple[Chart, ...]:
    """The charts of a report: agreement by output, then the error histograms of the worst rows."""
    compared = [row for row in rows if row.metrics is not None and row.pair.side == OUTPUT]
    agreement = [_agreement(compared)] if compared else []
    histograms = [
        _histogram(number, row, row.metrics.histogram, row.metrics.mismatches)
        for number, row in enumerate(worst_rows(rows, _MOST_HISTOGRAMS), 1)
        if row.metrics is not None and row.metrics.histogram is not None
    ]
    return (*agreement, *histograms)


def worst_rows(rows: Sequence[Row], most: int) -> List[Row]:
    """The compared rows with the largest errors, worst first; mismatches before all numbers, exact rows never."""
    rated = [(_badness(row), row) for row in rows if row.metrics is not None]
    rated.sort(key=lambda pair: pair[0], reverse=True)
    return [row for badness, row in rated[:most] if badness > (False, 0, 0.0)]


def _badness(row: Row) -> Tuple[bool, int, float]:
    assert row.metrics is not None
    error = row.metrics.rel_l2
    return row.failed, row.metrics.mismatches, math.inf if math.isnan(error) else error


def _agreement(rows: Sequence[Row]) -> Chart:
    shown = list(rows)
    notes: Tuple[str, ...] = ()
    if len(shown) > _MOST_BARS:
        worst = {id(row) for row in sorted(shown, key=_badness, reverse=True)[:_MOST_BARS]}
        shown = [row for row in shown if id(row) in worst]
        notes = (f"the {_MOST_BARS} worst of {len(rows)} outputs, in graph order",)
    return Chart(
        "agreement",
        "bar",
        "Agreeing decimal digits of each fused output",
        tuple(_label(row) for row in shown),
        (Series("-log10(relative L2 error)", tuple(_digits(row) for row in shown)),),
        unit="digits",
        x_title="fused output",
        marked=tuple(place for place, row in enumerate(shown) if row.blame == ROOT),
        notes=notes,
    )


def _digits(row: Row) -> float:
    """0 where nothing agrees, `_MOST_DIGITS` where everything does."""
    assert row.metrics is not None
    error = row.metrics.rel_l2
    if math.isnan(error) or error >= 1:
        return 0.0
    return min(_MOST_DIGITS, -math.log10(error)) if error > 0 else _MOST_DIGITS


def _histogram(number: int, row: Row, histogram: Histogram, mismatches: int) -> Chart:
    edges, counts = _joined(histogram)
    bins = [("0", histogram.equal), ("< 2^-64", histogram.below), *((f"{e:.1e}", n) for e, n in zip(edges, counts))]
    bins.append(("NaN, Inf", mismatches))
    # Bins between the smallest and the largest error stay even when empty: the axis is a scale.
    shown = [(name, count) for name, count in bins if count or name[0].isdigit()]
    return Chart(
        f"errors_{number}",
        "bar",
        f"Relative errors of {_label(row)}",
        tuple(name for name, _ in shown),
        (Series("elements", tuple(float(count) for _, count in shown)),),
        unit="elements",
        x_title="relative error from",
    )


def _joined(histogram: Histogram) -> Tuple[List[float], List[int]]:
    """Neighbouring bins put together until they are few enough to read."""
    edges, counts = list(histogram.edges), list(histogram.counts)
    while len(counts) > _MOST_BINS:
        edges = edges[:-1:2] + edges[-1:]
        counts = [sum(counts[place : place + 2]) for place in range(0, len(counts), 2)]
    return edges, counts


def _label(row: Row) -> str:
    step = f" #{row.pair.step}" if row.pair.step else ""
    return f"{row.pair.fused.name}:{row.pair.index}{step}"
