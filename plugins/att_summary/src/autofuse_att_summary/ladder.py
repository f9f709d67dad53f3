"""The candidates of a group in the order of their objectives: who came second, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal, InvalidOperation
from typing import List, Optional, Sequence, Tuple

from autofuse_att_summary.model import GroupKey, Invocation, Template

__all__ = ["Ladder", "Rung", "ladder_of", "share"]

_EXACT = Context(prec=400)


@dataclass(frozen=True)
class Rung:
    """One candidate: its case with the sub-case tag (`R2`), and its objective in cycles as logged."""

    case: str
    objective: str
    chosen: bool


@dataclass(frozen=True)
class Ladder:
    """The candidates of a group that have a finite objective, the best first."""

    rungs: Tuple[Rung, ...] = ()

    @property
    def runner_up(self) -> Optional[Rung]:
        """The best candidate that was not chosen; None when nothing was chosen or there is no other."""
        if not any(rung.chosen for rung in self.rungs):
            return None
        return next((rung for rung in self.rungs if not rung.chosen), None)

    @property
    def gap(self) -> Optional[Decimal]:
        """Runner-up minus chosen objective, in cycles; negative when the score decided against the objective."""
        chosen = next((rung for rung in self.rungs if rung.chosen), None)
        other = self.runner_up
        if chosen is None or other is None:
            return None
        return _EXACT.subtract(Decimal(other.objective), Decimal(chosen.objective))


def ladder_of(invocation: Invocation, group: Optional[GroupKey], chosen: Optional[Template]) -> Ladder:
    """The ladder of a group; empty when its candidates have no objective."""
    if group is None:
        return Ladder()
    found: List[Tuple[Decimal, Rung]] = []
    for template in invocation.templates.values():
        objective = template.objective if template.key[:3] == group else None
        cycles = _finite(objective)
        if objective is not None and cycles is not None:
            rung = Rung(f"{template.key[4]}{template.key[3]}", objective, template is chosen)
            found.append((cycles, rung))
    # Of equal objectives the chosen one stands first.
    found.sort(key=lambda item: (item[0], not item[1].chosen))
    return Ladder(tuple(rung for _, rung in found))


def _finite(text: Optional[str]) -> Optional[Decimal]:
    try:
        value = Decimal(text) if text is not None else None
    except InvalidOperation:
        return None
    return value if value is not None and value.is_finite() else None


def share(part: Optional[str], whole: Optional[str]) -> Optional[float]:
    """Part of the whole in percent; None where either is absent, not finite, or the whole is not positive."""
    numbers: Sequence[Optional[Decimal]] = (_finite(part), _finite(whole))
    if numbers[0] is None or numbers[1] is None or numbers[1] <= 0:
        return None
    return float(_EXACT.divide(numbers[0], numbers[1]) * 100)
