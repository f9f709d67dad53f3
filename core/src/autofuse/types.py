"""What plugins and the host exchange: spec objects that a plugin yields, and the record vocabulary of the logs.

A plugin's entry-point module imports only this module and yields frozen specs; the heavy code behind a spec is named by
`factory="package.module:object"` and imported when it is used. The records stand in `autofuse.records` and are imported
when one is first asked for. Report types are in `autofuse.report.model`.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, List, Mapping, Tuple, Type

import pluggy

if TYPE_CHECKING:
    from autofuse.records import (
        CandidateScore,
        FinalTiling,
        FinalTilingSummary,
        GroupBegin,
        GroupEnd,
        HardwareParams,
        InputShape,
        InvocationBegin,
        InvocationEnd,
        ModelInfoBegin,
        ModelInfoEnd,
        Objective,
        PipeFormula,
        Position,
        Record,
        ResultPerformance,
        ScheduleChoice,
        TemplateChoice,
        TemplateId,
        TilingFailure,
        TilingValue,
    )

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
    "LayoutSample",
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
# A spec without fields of its own inherits all of a dataclass; making it one again would slow every start.


@dataclass(frozen=True)
class Spec:
    """What every spec has: a unique name within its hook, one line for listings, and where the code is."""

    name: str
    summary: str
    factory: str
    """`package.module:object`, imported when the spec is used for the first time."""

    def load(self) -> Any:
        """Imports the object that `factory` names. Commands use `Host.load`, which says whose fault a failure is."""
        module, _, attribute = self.factory.partition(":")
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
        return found


@dataclass(frozen=True)
class CommandSpec(Spec):
    """A click command, reachable as `autofuse run NAME` and `autofuse run PLUGIN NAME`."""

    section: str = "Other"
    """The heading that `autofuse run --help` lists it under."""


class LogSourceSpec(Spec):
    """Opens one kind of location; the object is an `autofuse.scan.source.LogSource`."""


class WrappingSpec(Spec):
    """Reads the bytes before a message; the object is called as `wrapping(prefix: bytes) -> Optional[Wrapping]`."""


@dataclass(frozen=True)
class FormatSample:
    """One line of a format and the fields its record must have; checked by `autofuse plugins check` and in tests."""

    text: str
    fields: Mapping[str, object] = field(default_factory=dict)
    """Field name → value; also the parts of the template (`graph`, `case` …), `pid` and `tid`."""
    record: str = ""
    """Name of the record's type; empty: any type that the parser yields."""


@dataclass(frozen=True)
class ParserSpec(Spec):
    """Turns matched lines into records; the object is called as `parser(batch: LineBatch) -> Iterable[Record]`."""

    markers: Tuple[bytes, ...] = ()
    """Literals; a line that holds one of them is given to the parser. Never empty."""
    records: Tuple[Type[Record], ...] = ()
    """The record types it yields."""
    samples: Tuple[FormatSample, ...] = ()


@dataclass(frozen=True)
class LayoutSample:
    """A stored shape and the original shape that fits it; checked by `autofuse plugins check`."""

    stored: Tuple[int, ...]
    shape: Tuple[int, ...]


@dataclass(frozen=True)
class LayoutSpec(Spec):
    """Converts a stored tensor to a plain layout; see `autofuse.hookspecs.autofuse_layout_converters`."""

    stored: str = ""
    """Name of the stored layout, as in dumps: `NC1HWC0`, `FRACTAL_NZ` …"""
    plain: str = ""
    """Name of the plain layout it gives: `NHWC`, `ND` …"""
    samples: Tuple[LayoutSample, ...] = ()


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


class RunnerSpec(Spec):
    """Builds and calls native code in another process."""


class ExecutorSpec(Spec):
    """Gives a `concurrent.futures.Executor`; the object is called as `executor(jobs: int)`."""


class RuleSpec(Spec):
    """One finding rule of analyze."""


class DoctorSpec(Spec):
    """One check of `autofuse doctor`; the object is called as `check() -> Tuple[status, text]`.

    Status is `ok`, `note` (works, with a limitation worth knowing) or `broken`.
    """


def __getattr__(name: str) -> Any:
    """Imports the records when one is first asked for."""
    if name in __all__:
        from autofuse import records

        globals().update({known: getattr(records, known) for known in records.__all__})
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> List[str]:
    return __all__
