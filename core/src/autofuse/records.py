"""The record vocabulary of the logs: what a record parser yields and the run model folds, whatever text it came from.

A plugin imports these names from `autofuse.types`; they stand in a module of their own because making that many
dataclasses costs more than the rest of a start, and most starts (help, completion, other commands) need none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Optional, Tuple

__all__ = [
    "CandidateScore",
    "FinalTiling",
    "FinalTilingSummary",
    "GroupBegin",
    "GroupEnd",
    "HardwareParams",
    "InputShape",
    "InvocationBegin",
    "InvocationEnd",
    "ModelInfoBegin",
    "ModelInfoEnd",
    "Objective",
    "PipeFormula",
    "Position",
    "Record",
    "ResultPerformance",
    "ScheduleChoice",
    "TemplateChoice",
    "TemplateId",
    "TilingFailure",
    "TilingValue",
]


@dataclass(frozen=True)
class Position:
    """Where a record stands: the file, its 1-based line, and the process and thread that wrote it, where known."""

    path: str
    line: int
    pid: Optional[int] = None
    tid: Optional[int] = None


@dataclass(frozen=True)
class TemplateId:
    """One template. `case` 2 and `case` 2 with `sub_case` "R" are two different templates."""

    graph: int
    result: int
    group: int
    case: int
    sub_case: str = ""


@dataclass(frozen=True)
class Record:
    """What every record has: the operator (raw `fused_graph_name`) and its position."""

    operator: str
    at: Position


@dataclass(frozen=True)
class TilingValue(Record):
    """`The value of NAME is VALUE in TEMPLATE`; the value is kept as logged (integer, float, nan, inf)."""

    template: TemplateId
    name: str
    value: str


@dataclass(frozen=True)
class Objective(Record):
    """`The objective value of the tiling data`: modelled cycles, max(pipes) + head cost."""

    template: TemplateId
    value: str


@dataclass(frozen=True)
class CandidateScore(Record):
    """The score the selector gives a candidate before the choice."""

    template: TemplateId
    score: int


@dataclass(frozen=True)
class TemplateChoice(Record):
    """The template that a group chose."""

    template: TemplateId


@dataclass(frozen=True)
class ScheduleChoice(Record):
    """The result that a graph chose among all its schedule results."""

    graph: int
    result: int


@dataclass(frozen=True)
class ResultPerformance(Record):
    """The modelled performance of one schedule result, in cycles, as logged."""

    graph: int
    result: int
    value: str


@dataclass(frozen=True)
class InvocationBegin(Record):
    """`Start GetTiling.`: one per asc graph of the operator; `graph` where the line tells."""

    graph: Optional[int] = None


@dataclass(frozen=True)
class InvocationEnd(Record):
    """`End GetTiling.`: one for all graphs of the call."""


@dataclass(frozen=True)
class GroupBegin(Record):
    """`Start tiling for sched group …`."""

    graph: int
    result: int
    group: int


@dataclass(frozen=True)
class GroupEnd(Record):
    """`End tiling for sched group.`"""


@dataclass(frozen=True)
class TilingFailure(Record):
    """`GetTiling Failed.` or an empty ERROR of the call; inside a sched group it fails that group only.

    The operator is "" for an empty ERROR line: it belongs to the call that is open in its process and thread.
    """


@dataclass(frozen=True)
class InputShape(Record):
    """Symbols printed by `Set input params` of one group: `(("s0", "1024"), …)`."""

    template: TemplateId
    symbols: Tuple[Tuple[str, str], ...]


@dataclass(frozen=True)
class HardwareParams(Record):
    """`Set hardware params`: `(("ub_size", "196608"), ("block_dim", "48"))`; bytes and cores given to the solver."""

    values: Tuple[Tuple[str, str], ...]


@dataclass(frozen=True)
class PipeFormula(Record):
    """A `[PERF]` line: the cost formula of one node on one pipe, in cycles."""

    node: str
    node_type: str
    pipe: str
    terms: Tuple[Tuple[str, str], ...]
    total: str
    template: Optional[TemplateId] = None


@dataclass(frozen=True)
class ModelInfoBegin(Record):
    """`[DFX]Begin to generate model info`: compiler side, operator "" (the line names the asc graph only)."""

    graph_name: str
    case: Optional[int] = None
    graph: Optional[int] = None
    result: Optional[int] = None
    group: Optional[int] = None


@dataclass(frozen=True)
class ModelInfoEnd(Record):
    """`[DFX]End to generate model info`; pairs with its begin per process and thread."""

    graph_name: str
    case: Optional[int] = None
    graph: Optional[int] = None
    result: Optional[int] = None
    group: Optional[int] = None


@dataclass(frozen=True)
class FinalTiling(Record):
    """The tiling data the runtime wrote: `fields` holds the decoded key=value pairs, `status` the record status."""

    fields: Mapping[str, str]
    status: str = "ok"


@dataclass(frozen=True)
class FinalTilingSummary(Record):
    """The groups chosen together after a multi-group selection."""

    fields: Mapping[str, str]
    status: str = "ok"
