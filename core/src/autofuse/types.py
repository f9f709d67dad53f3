"""What plugins and the host exchange: spec objects that a plugin yields, and the record vocabulary of the logs.

A plugin's entry-point module imports only this module and yields frozen specs; the heavy code behind a spec is named by
`factory="package.module:object"` and imported when it is used. Report types are in `autofuse.report.model`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping, Optional, Tuple, Type

import pluggy

__all__ = [
    "CandidateScore",
    "CommandSpec",
    "DoctorSpec",
    "ExecutorSpec",
    "FinalTiling",
    "FinalTilingSummary",
    "FormatSample",
    "GroupBegin",
    "GroupEnd",
    "HardwareParams",
    "InputShape",
    "InvocationBegin",
    "InvocationEnd",
    "LayoutSpec",
    "LogSourceSpec",
    "ModelInfoBegin",
    "ModelInfoEnd",
    "Objective",
    "ParserSpec",
    "PipeFormula",
    "Position",
    "Record",
    "ReporterSpec",
    "ResultPerformance",
    "RuleSpec",
    "RunnerSpec",
    "ScheduleChoice",
    "Spec",
    "TemplateChoice",
    "TemplateId",
    "TilingFailure",
    "TilingValue",
    "WrappingSpec",
    "hookimpl",
]

hookimpl = pluggy.HookimplMarker("autofuse")
"""Marks a function of a plugin module as the implementation of the hook of that name."""


# --- specs ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spec:
    """What every spec has: a unique name within its hook, one line for listings, and where the code is."""

    name: str
    summary: str
    factory: str
    """`package.module:object`, imported when the spec is used for the first time."""


@dataclass(frozen=True)
class CommandSpec(Spec):
    """A click command, reachable as `autofuse run NAME` and `autofuse run PLUGIN NAME`."""

    section: str = "Other"
    """The heading that `autofuse run --help` lists it under."""


@dataclass(frozen=True)
class LogSourceSpec(Spec):
    """Opens one kind of location; the object is an `autofuse.scan.source.LogSource`."""


@dataclass(frozen=True)
class WrappingSpec(Spec):
    """Reads the bytes before a message; the object is called as `wrapping(prefix: bytes) -> Optional[Wrapping]`."""


@dataclass(frozen=True)
class FormatSample:
    """One line of a format and the fields its record must have; checked by `autofuse plugins check` and in tests."""

    text: str
    fields: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class ParserSpec(Spec):
    """Turns matched lines into records; the object is called as `parser(batch: LineBatch) -> Iterable[Record]`."""

    markers: Tuple[bytes, ...] = ()
    """Literals; a line that holds one of them is given to the parser. Never empty."""
    records: Tuple[Type[Record], ...] = ()
    """The record types it yields."""
    samples: Tuple[FormatSample, ...] = ()


@dataclass(frozen=True)
class LayoutSpec(Spec):
    """Converts a stored tensor to a plain layout; see `autofuse.hookspecs.autofuse_layout_converters`."""

    stored: str = ""
    """Name of the stored layout, as in dumps: `NC1HWC0`, `FRACTAL_NZ` …"""
    plain: str = ""
    """Name of the plain layout it gives: `NHWC`, `ND` …"""


@dataclass(frozen=True)
class ReporterSpec(Spec):
    """Writes a report; the object is called as `reporter(report, out: BinaryIO, context: ReportContext) -> None`."""

    suffixes: Tuple[str, ...] = ()
    """File name endings that select it when -f is absent: `(".csv",)`."""
    aliases: Tuple[str, ...] = ()
    """Further names for -f: `("excel",)`."""
    needs_file: bool = False
    """True for binary formats that must not go to a terminal."""
    single_table: bool = False
    """True when one output holds one table only; given a folder, the host writes one file per table."""


@dataclass(frozen=True)
class RunnerSpec(Spec):
    """Builds and calls native code in another process."""


@dataclass(frozen=True)
class ExecutorSpec(Spec):
    """Gives a `concurrent.futures.Executor`; the object is called as `executor(jobs: int)`."""


@dataclass(frozen=True)
class RuleSpec(Spec):
    """One finding rule of analyze."""


@dataclass(frozen=True)
class DoctorSpec(Spec):
    """One check of `autofuse doctor`; the object is called as `check() -> Tuple[status, text]`.

    Status is `ok`, `note` (works, with a limitation worth knowing) or `broken`.
    """


# --- records ----------------------------------------------------------------------------------------------------------


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
