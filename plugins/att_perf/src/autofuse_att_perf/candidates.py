"""What the analysis needs to know from a log, independent of how the log was read: the candidates of each operator.

`autofuse_att_perf.runs` fills it from the run model of the tiling logs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable, Dict, List, Mapping, Optional, Tuple

from autofuse.types import PipeFormula, TemplateId

__all__ = ["Candidate", "GroupId", "OperatorLog"]

GroupId = Optional[Tuple[int, int, int]]
"""(graph, result, group); None for [PERF] lines that name no template."""


@dataclass(frozen=True)
class Candidate:
    """One template of one invocation, with everything that was logged about it."""

    template: Optional[TemplateId]
    """None for [PERF] lines that name no template."""
    values: Mapping[str, str] = field(default_factory=dict)
    """Tiling values, `ub_size` and `block_dim` included."""
    pipes: Mapping[str, str] = field(default_factory=dict)
    objective: Optional[str] = None
    symbols: Mapping[str, str] = field(default_factory=dict)
    """Input symbols of its group, and those of the call."""
    chosen: bool = False
    in_result: bool = False
    """Its group belongs to the result that was chosen."""
    path: str = ""
    """The log that it stands in."""
    line: Optional[int] = None
    """Its first line there."""
    lines: Callable[[], Mapping[str, int]] = dict
    """Gives name → line of its last print; the objective under `objective`."""

    @property
    def group(self) -> GroupId:
        """The group it competes in."""
        template = self.template
        return None if template is None else (template.graph, template.result, template.group)

    @property
    def case(self) -> str:
        """`0`, `R0`; "" without a template."""
        return "" if self.template is None else f"{self.template.sub_case}{self.template.case}"

    def line_of(self, name: str) -> Optional[int]:
        """Where a value was logged; its first line where that is not known."""
        return self.lines().get(name, self.line)


@dataclass
class OperatorLog:
    """One operator of one process, in the invocation that is looked at."""

    name: str
    candidates: List[Candidate] = field(default_factory=list)
    formulas: List[PipeFormula] = field(default_factory=list)
    """[PERF] lines."""
    hardware: Mapping[str, str] = field(default_factory=dict)
    """`ub_size` and `block_dim` of `Set hardware params`."""
    source: str = ""
    """The log, to tell processes apart."""
    invocation: str = ""
    """`2 of 3`, or "" when there is nothing to say."""
    shape: Dict[str, str] = field(default_factory=dict)

    @property
    def may_have_groups(self) -> bool:
        """Whether there may be more than one group to show."""
        templates = [candidate.template for candidate in self.candidates]
        templates += [formula.template for formula in self.formulas if formula.template or self.candidates]
        return len({(one.graph, one.result, one.group) if one else None for one in templates}) > 1
