"""What this plugin offers; nothing is imported here but the spec types."""

from __future__ import annotations

from typing import Iterator

from autofuse import types
from autofuse.types import (
    CommandSpec,
    FormatSample,
    LayoutSample,
    LayoutSpec,
    ParserSpec,
    ReporterSpec,
    WrappingSpec,
    hookimpl,
)

_MESSAGE = "1767225600.120 p4242.t17 I ACME> "


@hookimpl
def autofuse_record_parsers() -> Iterator[ParserSpec]:
    """The tuner's log. The samples are checked by `autofuse plugins check autofuse-acme`."""
    template = {"operator": "Add_1", "graph": 0, "result": 1, "group": 2, "case": 3, "sub_case": "R"}
    yield ParserSpec(
        "acme",
        "Log of the ACME tuner",
        "autofuse_acme.parser:parse",
        markers=(b"ACME> ",),
        records=(
            types.InvocationBegin,
            types.InvocationEnd,
            types.TilingFailure,
            types.InputShape,
            types.TilingValue,
            types.Objective,
            types.CandidateScore,
            types.TemplateChoice,
            types.ResultPerformance,
            types.ScheduleChoice,
        ),
        samples=(
            FormatSample(_MESSAGE + "begin Add_1", {"operator": "Add_1", "pid": 4242, "tid": 17}, "InvocationBegin"),
            FormatSample(_MESSAGE + "end Add_1", {"operator": "Add_1"}, "InvocationEnd"),
            FormatSample(_MESSAGE + "fail Add_1", {"operator": "Add_1"}, "TilingFailure"),
            FormatSample(
                _MESSAGE + "shape Add_1 0/1/2/3R s0=1024 s1=512",
                {**template, "symbols": {"s0": "1024", "s1": "512"}},
                "InputShape",
            ),
            FormatSample(
                _MESSAGE + "try Add_1 0/1/2/3R tile_m=64",
                {**template, "name": "tile_m", "value": "64"},
                "TilingValue",
            ),
            FormatSample(_MESSAGE + "cost Add_1 0/1/2/3R 133.25", {**template, "value": "133.25"}, "Objective"),
            FormatSample(_MESSAGE + "score Add_1 0/1/2/3R -7", {**template, "score": -7}, "CandidateScore"),
            FormatSample(_MESSAGE + "pick Add_1 0/1/2/3R", template, "TemplateChoice"),
            FormatSample(
                _MESSAGE + "perf Add_1 0/1 133.25",
                {"graph": 0, "result": 1, "value": "133.25"},
                "ResultPerformance",
            ),
            FormatSample(_MESSAGE + "take Add_1 0/1", {"graph": 0, "result": 1}, "ScheduleChoice"),
        ),
    )


@hookimpl
def autofuse_line_wrappings() -> Iterator[WrappingSpec]:
    """What stands before a message of the tuner."""
    yield WrappingSpec("acme", "time, process, thread and level of the ACME tuner", "autofuse_acme.prefix:read_prefix")


@hookimpl
def autofuse_layout_converters() -> Iterator[LayoutSpec]:
    """The accelerator's memory: columns of 8 elements."""
    yield LayoutSpec(
        "acme-columns",
        "columns of 8 elements to the plain matrix",
        "autofuse_acme.layout:convert",
        stored="ACME_COL8",
        plain="ND",
        samples=(LayoutSample((3, 5, 8), (5, 20)), LayoutSample((2, 1, 4, 8), (2, 4, 3))),
    )


@hookimpl
def autofuse_reporters() -> Iterator[ReporterSpec]:
    """`-f acme`: what the vendor's dashboard reads."""
    yield ReporterSpec(
        "acme",
        "key=value lines for the ACME dashboard",
        "autofuse_acme.reporter:write",
        suffixes=(".acme",),
        aliases=("acme-dashboard",),
    )


@hookimpl
def autofuse_commands() -> Iterator[CommandSpec]:
    """A view that only this vendor needs."""
    yield CommandSpec(
        "acme-candidates",
        "How many candidates the ACME tuner tried for each operator.",
        "autofuse_acme.candidates:command",
        section="ACME",
    )
