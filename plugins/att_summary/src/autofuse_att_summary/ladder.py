"""The candidates of a group in the order of their objectives: who came second, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import List, Optional, Tuple

from autofuse_att_summary.exact import EXACT, exact, percent
from autofuse_att_summary.model import GroupKey, Invocation, Template

__all__ = ["Ladder", "Rung", "ladder_of", "share"]


@dataclass(frozen=True)
class Rung:
    """One candidate: its case with the sub-case tag (`R2`), and its objective in cycles, as logged and as a number."""

    case: str
    objective: str
    cycles: Decimal
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
        return EXACT.subtract(other.cycles, chosen.cycles)


def ladder_of(invocation: Invocation, group: Optional[GroupKey], chosen: Optional[Template]) -> Ladder:
    """The ladder of a group; empty when its candidates have no objective."""
    if group is None:
        return Ladder()
    found: List[Rung] = []
    for template in invocation.templates.values():
        objective = template.objective if template.key[:3] == group else None
        cycles = _finite(objective)
        if objective is not None and cycles is not None:
            found.append(Rung(f"{template.key[4]}{template.key[3]}", objective, cycles, template is chosen))
    # Of equal objectives the chosen one stands first.
    found.sort(key=lambda rung: (rung.cycles, not rung.chosen))
    return Ladder(tuple(found))


def _finite(text: Optional[str]) -> Optional[Decimal]:
    value = exact(text)
    return value if value is not None and value.is_finite() else None


def share(part: Optional[str], whole: Optional[str]) -> Optional[float]:
    """Part of the whole in percent; None where either is absent, not finite, or the whole is not positive."""
    over, under = _finite(part), _finite(whole)
    if over is None or under is None or under <= 0:
        return None
    return percent(over, under)
