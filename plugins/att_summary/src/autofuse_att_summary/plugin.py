"""The plugin module: what att_summary offers to the host."""

from __future__ import annotations

from typing import Iterator

from autofuse import types
from autofuse.types import CommandSpec, FormatSample, ParserSpec, hookimpl

__all__ = ["MARKERS", "autofuse_commands", "autofuse_record_parsers"]

_SECTION = "Tiling logs"

MARKERS = (
    b"[PROF]",
    b"[ATT]",
    b"Start GetTiling",
    b"End GetTiling",
    b"GetTiling Failed",
    b"tiling for sched group",
    b"Set input params for tiling case",
    b"Set hardware params.",
    b"The value of graph",
    b" score is ",
    b"ErrorNo: 4294967295()",
    b"input: core_num:",
    b"\x1b",
)
"""A line of the ATT format that the model needs holds one of these; an escape sequence may stand inside any of them."""


@hookimpl
def autofuse_commands() -> Iterator[CommandSpec]:
    """Four views of one run model."""
    for name, summary in (
        ("summary", "Which template each operator chose, and its values."),
        ("compare", "What changed between two runs, and what got slower."),
        ("evidence", "Every template of every call as JSON lines."),
        ("split-slog", "Cut a giant log into one file per template."),
    ):
        yield CommandSpec(name, summary, f"autofuse_att_summary.{name.replace('-', '_')}:command", _SECTION)


@hookimpl
def autofuse_record_parsers() -> Iterator[ParserSpec]:
    """The runtime tiling messages of graph-autofusion."""
    yield ParserSpec(
        "att",
        "Runtime tiling messages of graph-autofusion",
        "autofuse_att_summary.parser:parser",
        markers=MARKERS,
        records=(
            types.TilingValue,
            types.Objective,
            types.CandidateScore,
            types.TemplateChoice,
            types.ScheduleChoice,
            types.ResultPerformance,
            types.InvocationBegin,
            types.InvocationEnd,
            types.GroupBegin,
            types.GroupEnd,
            types.TilingFailure,
            types.InputShape,
            types.HardwareParams,
        ),
        samples=(
            FormatSample(
                "[INFO] GE(7,app):2026-01-02-03:04:05.006.007 [a.cpp:1]9 F:[Add][PROF]The value of q0_size is 64 "
                "in graph0_result1_g2_R3.",
                {"operator": "Add", "name": "q0_size", "value": "64", "template": types.TemplateId(0, 1, 2, 3, "R")},
            ),
            FormatSample("[Add] [PROF]Among all schedule results, graph0_result1 is the best choice.", {"result": 1}),
            FormatSample("[Add]Start GetTiling.", {"operator": "Add"}, "InvocationBegin"),
            FormatSample("[Add]End GetTiling.", {"operator": "Add"}, "InvocationEnd"),
            FormatSample("[Add]GetTiling Failed.", {"operator": "Add"}, "TilingFailure"),
            FormatSample("[Add]Start tiling for sched group AscGraph0ScheduleResult1G2.", {"group": 2}, "GroupBegin"),
            FormatSample(
                "[Add]Set input params for tiling case 3 of AscGraph0ScheduleResult1G2.  s0 = 1024. s1 = 512.",
                {"symbols": (("s0", "1024"), ("s1", "512"))},
            ),
            FormatSample("[Add]The value of graph0_result1 is 1252.525818", {"result": 1, "value": "1252.525818"}),
            FormatSample("[Add]tiling case3 of asc_graph0_schedule_result1_g2 score is -7", {"score": -7}),
        ),
    )
    yield ParserSpec(
        "dfx",
        "Compiler blocks of graph-autofusion",
        "autofuse_att_summary.dfx:parser",
        markers=(b"[DFX]Begin to gen", b"[DFX]End to gen"),
        records=(types.ModelInfoBegin, types.ModelInfoEnd),
        samples=(
            FormatSample(
                "[INFO] GE(7,app):2026-01-02-03:04:05.006.007 [a.cpp:1]9 F:"
                "[DFX]Begin to generate model info for graph Add_graph of tiling case id 3",
                {"graph_name": "Add_graph", "case": 3},
            ),
            FormatSample(
                "[DFX]End to gen model info for graph0_result1_g2 tiling_case size 4, graph name Add_graph.",
                {"graph_name": "Add_graph", "graph": 0, "result": 1, "group": 2},
            ),
        ),
    )
