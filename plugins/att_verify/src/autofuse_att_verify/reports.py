"""A result as a Report: what the console shows, and every other reporter."""

from __future__ import annotations

from typing import Any, Iterator, List, Optional, Tuple

from autofuse.report.model import Cell, Column, Number, Provenance, Report, Table

from autofuse_att_verify import __version__
from autofuse_att_verify.result import Result

__all__ = ["headline", "number", "verify_report"]

_PASSED = {True: "passed", False: "FAILED", None: "not checked"}


def verify_report(result: Result, command: str, details: bool = True) -> Report:
    """One row on the call, its checks and, with `details`, its tiling data."""
    tables = [_summary(result)]
    if result.checks:
        tables.append(_checks(result))
    if details and result.tiling_data_fields is not None:
        tables.append(_fields(result))
    versions = {"autofuse-att-verify": __version__, "compiler": str(result.compiler.get("version") or "")}
    return Report(
        title="verify-tiling",
        tables=tuple(tables),
        lead=(headline(result),),
        notes=tuple(_notes(result)),
        provenance=Provenance(command, (result.source_dir,), versions),
    )


def _notes(result: Result) -> Iterator[str]:
    if result.tiling_data_note and result.tiling_data is not None:
        yield result.tiling_data_note
    if not result.passed:
        for text in result.logged_errors[:3]:
            yield f"the code logged: {text}"
        for text in result.reports[:3]:
            yield f"the code reported: {text}"


def headline(result: Result) -> str:
    """The outcome in one line."""
    if result.status != "SUCCEEDED":
        return f"{result.status}: {result.error}"
    failed = [check for check in result.checks if check.passed is False]
    if failed:
        return "SUCCEEDED, but checks failed: " + "; ".join(f"{check.name}: {check.detail}" for check in failed)
    return "SUCCEEDED, all checks passed"


def _summary(result: Result) -> Table:
    columns = (
        Column("Status"),
        Column("Scene"),
        Column("Toolkit"),
        Column("Shape", meaning="values of the shape symbols"),
        Column("aiv_num", "int", meaning="vector cores given to the code"),
        Column("ub_size", "int", "bytes"),
        Column("block_dim", "int", meaning="blocks the code asks for"),
        Column("Workspace", "int", "bytes"),
        Column("Tiling Key", "int"),
        Column("Case", meaning="chosen templates, as the call's messages tell"),
        Column("Objective", "float", "cycles"),
        Column("Error"),
    )
    row: Tuple[Cell, ...] = (
        result.status,
        result.scene,
        result.toolkit["name"],
        " ".join(map(str, result.inputs["dynamic_dims"])) or None,
        result.inputs["aiv_num"],
        result.inputs["ub_size"],
        result.block_dim,
        result.workspace_size,
        result.tiling_key,
        ";".join(str(item["template"]) for item in result.choice) or None,
        _objective(result),
        result.error,
    )
    return Table("verify", columns, [row])


def number(text: Optional[str]) -> Optional[Number]:
    """The text as a number of a table; None when the code logged something else."""
    try:
        float(text or "")
    except ValueError:
        return None
    return Number(text)


def _objective(result: Result) -> Optional[Number]:
    """The modelled cycles of the chosen result; those of the only template where no result line was printed."""
    if len(result.result_performance) == 1:
        return number(next(iter(result.result_performance.values())))
    return number(result.choice[0].get("objective")) if len(result.choice) == 1 else None


def _checks(result: Result) -> Table:
    columns = (Column("Check"), Column("Result"), Column("Detail"))
    rows: List[Tuple[Cell, ...]] = [(check.name, _PASSED[check.passed], check.detail) for check in result.checks]
    return Table("checks", columns, rows, title="Checks")


def _fields(result: Result) -> Table:
    columns = (Column("Field"), Column("Value", "any"))
    return Table("tiling_data", columns, list(_flat("", result.tiling_data_fields)), title="Tiling data")


def _flat(prefix: str, value: Any) -> Iterator[Tuple[Cell, ...]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _flat(f"{prefix}.{name}" if prefix else name, item)
    elif isinstance(value, list) and value and isinstance(value[0], (dict, list)):
        for index, item in enumerate(value):
            yield from _flat(f"{prefix}[{index}]", item)
    elif isinstance(value, list):
        yield prefix, " ".join(map(str, value))
    else:
        yield prefix, value
