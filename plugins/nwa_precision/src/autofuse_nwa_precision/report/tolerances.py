"""`--show-tolerance`: the table of tolerances in force, the last matching entry that sets a value winning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofuse.report.emit import emit
from autofuse.report.model import Column, Report, Table

from autofuse_nwa_precision.tolerance import Tolerances

if TYPE_CHECKING:
    from autofuse.cli.app import App

    from autofuse_nwa_precision.cli import Options

__all__ = ["show_tolerances"]

_COLUMNS = (
    Column("op", "text", "", "pattern of operator names", "算子"),
    Column("dtype", "text", "", "dtype, or its class", "数据类型"),
    Column("cosine", "float", "", "smallest scale-free cosine", "余弦下限"),
    Column("rel_l2", "float", "", "largest relative L2 error", "相对L2误差上限"),
    Column("rtol", "float", "", "every element: |a-b| <= atol + rtol*|b|"),
    Column("atol", "float", "", "see rtol"),
    Column("equal", "text", "", "every element equal", "须相等"),
    Column("origin", "text", "", "where it comes from", "来源"),
)


def show_tolerances(app: App, options: Options) -> int:
    """Writes the table and gives the exit code."""
    given = (options.rtol, options.atol, options.cosine)
    found = Tolerances.read(options.tolerance) if options.tolerance else Tolerances.of_options(*given)
    rows = [
        (
            op or "*",
            dtype or "*",
            limits.cosine,
            limits.rel_l2,
            limits.rtol,
            limits.atol,
            "yes" if limits.equal else None,
            origin,
        )
        for op, dtype, limits, origin in found.rows()
    ]
    notes = ("of the entries that match, the last one that sets a value wins; - leaves it as it is",)
    report = Report("tolerance", (Table("tolerance", _COLUMNS, rows),), notes=notes)
    emit(app, report, options.output_format, options.output)
    return 0
