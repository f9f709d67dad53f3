"""One row of the comparison: what was to be compared, how it went, the measures, the verdict and the blame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Iterable, Optional, Tuple

from autofuse_nwa_precision.pairing import Pair
from autofuse_nwa_precision.statuses import NOT_COUNTED
from autofuse_nwa_precision.tolerance import FAIL

if TYPE_CHECKING:
    from autofuse_nwa_precision.dtypes import ElementType
    from autofuse_nwa_precision.metrics import Metrics

__all__ = ["Row", "Side", "Summary", "summarize"]


@dataclass(frozen=True)
class Side:
    """One tensor as its file holds it; None and "" where the row did not get that far."""

    path: str = ""
    dtype: str = ""
    shape: Optional[Tuple[int, ...]] = None
    layout: str = ""


@dataclass
class Row:
    """The result of one pair."""

    pair: Pair
    status: str
    reason: str = ""
    open: Side = Side()
    close: Side = Side()
    type: Optional[ElementType] = None
    """The lower-precision dtype of the two sides."""
    metrics: Optional[Metrics] = None
    verdict: Optional[str] = None
    compared_shape: Optional[Tuple[int, ...]] = None
    noise_rel_l2: Optional[float] = None
    """Relative L2 error of the noise run against the run without fusion."""
    reference_open: Optional[float] = None
    """Relative L2 error of the fused side against the reference run."""
    reference_close: Optional[float] = None
    blame: str = ""
    amplification: Optional[float] = None

    @property
    def failed(self) -> bool:
        """True for a compared row that breaks its tolerance."""
        return self.verdict == FAIL

    @property
    def rel_l2(self) -> Optional[float]:
        """Relative L2 error; None for a row that was not compared."""
        return self.metrics.rel_l2 if self.metrics else None


@dataclass(frozen=True)
class Summary:
    """How many rows went which way."""

    rows: int
    compared: int
    failed: int
    lost: int
    """Rows that could not be compared though there was something to compare."""

    @property
    def exit_code(self) -> int:
        """0 all good, 1 something failed or was lost, 2 nothing was compared."""
        if not self.compared:
            return 2
        return 1 if self.failed or self.lost else 0


def summarize(rows: Iterable[Row]) -> Summary:
    """Counts the rows."""
    total = compared = failed = lost = 0
    for row in rows:
        total += 1
        compared += row.verdict is not None
        failed += row.failed
        lost += row.verdict is None and row.status not in NOT_COUNTED
    return Summary(total, compared, failed, lost)
