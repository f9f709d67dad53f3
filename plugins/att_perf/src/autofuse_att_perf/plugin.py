"""The plugin module: what att_perf offers to the host."""

from __future__ import annotations

from typing import Iterator

from autofuse import types
from autofuse.types import CommandSpec, DoctorSpec, FormatSample, ParserSpec, hookimpl

__all__ = ["autofuse_commands", "autofuse_doctor_checks", "autofuse_record_parsers"]


@hookimpl
def autofuse_commands() -> Iterator[CommandSpec]:
    """The command perf-formula."""
    yield CommandSpec(
        "perf-formula",
        "Which term of which pipe bounds an operator, and what would move it.",
        "autofuse_att_perf.cli:command",
        section="Tiling logs",
    )


@hookimpl
def autofuse_doctor_checks() -> Iterator[DoctorSpec]:
    """Whether the native twin of the formula compiler was built."""
    yield DoctorSpec("formulas", "The native formula compiler", "autofuse_att_perf.doctor:check")


@hookimpl
def autofuse_record_parsers() -> Iterator[ParserSpec]:
    """The `[PERF]` lines of the tiling logs."""
    yield ParserSpec(
        "perf",
        "Cost formula of one graph node on one pipe",
        "autofuse_att_perf.perf_lines:parser",
        # An escape sequence may stand inside the marker.
        markers=(b"[PERF]", b"\x1b"),
        records=(types.PipeFormula,),
        samples=(
            FormatSample(
                "[Add] [PERF] Load_0[Load]: AIV_MTE2 = (base_cycles=172.2 + head_cost=27.01) = 199.21",
                {
                    "operator": "Add",
                    "node": "Load_0",
                    "node_type": "Load",
                    "pipe": "AIV_MTE2",
                    "terms": (("base_cycles", "172.2"), ("head_cost", "27.01")),
                    "total": "199.21",
                    "template": None,
                },
            ),
            FormatSample(
                "[INFO] GE(7,app):2026-01-02-03:04:05.006.007 [a.cpp:1]9 F:[Add][PERF][graph0_result1_g0_R0] "
                "Store_0[Store]: AIV_MTE3 = (block_cost=156.8 + head_cost=12.09) = 168.89",
                {"operator": "Add", "template": types.TemplateId(0, 1, 0, 0, "R"), "total": "168.89"},
            ),
            FormatSample(
                "\x1b[32m[Add]\x1b[0m [PERF] Add_0[Add]: AIV_VEC = base_cost=42.78",
                {"terms": (("base_cost", "42.78"),), "total": "42.78"},
            ),
        ),
    )
