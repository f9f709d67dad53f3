"""Mode 2: compares two npy files, with layouts and original shape from the command line."""

from __future__ import annotations

from typing import List, Optional, Tuple

from autofuse import __version__
from autofuse.cli.app import App
from autofuse.errors import AutofuseError
from autofuse.report.emit import emit
from autofuse.report.model import Cell, Column, Provenance, Report, Table

from autofuse_nwa_precision.cli import Options
from autofuse_nwa_precision.comparison import Comparer
from autofuse_nwa_precision.converters import Converters
from autofuse_nwa_precision.dtypes import lower_precision
from autofuse_nwa_precision.dumps.npy import open_npy
from autofuse_nwa_precision.dumps.tensor import Shape, Tensor
from autofuse_nwa_precision.dumps.values import interpret
from autofuse_nwa_precision.metrics import Metrics
from autofuse_nwa_precision.mode1 import cores, tolerances_of
from autofuse_nwa_precision.report.columns import MEASURES, cells_of_measures, text_of_shape, unrounded
from autofuse_nwa_precision.report.output import is_console, is_csv, shown_in
from autofuse_nwa_precision.rows import Side
from autofuse_nwa_precision.statuses import FILE_NOT_FOUND, INF_MISMATCH, NAN_MISMATCH, OK_EMPTY, RowError, joined
from autofuse_nwa_precision.tolerance import FAIL, PASS, judge

__all__ = ["compare_files"]

_COLUMNS = (
    Column("npy_a", "text", "", "file under test", "文件A"),
    Column("npy_b", "text", "", "file to compare with", "文件B"),
    Column("status", "text", "", "what was done, or why not", "状态"),
    Column("cosine_similarity", "float", "", "dot(a,b) / (|a||b| + 1e-8)", "余弦相似度", format="%.10f"),
    Column("max_abs_error", "float", "", "max |a-b|", "绝对误差最大值", format="%.6e"),
    Column("max_rel_error", "float", "", "max |a-b| / (max(|a|,|b|) + 1e-8)", "相对误差最大值", format="%.6e"),
    Column("cosine_scale_free", "float", "", "dot(a,b) / (|a||b|)", "无尺度余弦", format="%.10f"),
    Column("verdict", "text", "", "pass, warn or fail", "结论"),
    Column("reason", "text", "", "why it is skipped, warns or fails", "原因"),
    Column("dtype_a", "text"),
    Column("dtype_b", "text"),
    Column("shape_a", "text"),
    Column("shape_b", "text"),
    Column("compared_shape", "text"),
    *(column for column, _ in MEASURES),
)


class _Result:
    """The one row of mode 2."""

    def __init__(self, path_a: str, path_b: str) -> None:
        self.paths = (path_a, path_b)
        self.sides = [Side(path_a), Side(path_b)]
        self.status = ""
        self.verdict: Optional[str] = None
        self.reason = ""
        self.metrics: Optional[Metrics] = None
        self.shape: Optional[Shape] = None

    def cells(self) -> List[Cell]:
        """The cells of `_COLUMNS`."""
        m = self.metrics
        published = (m.cosine, m.max_abs, m.max_rel, m.cosine_scale_free) if m else (None,) * 4
        return [
            *self.paths,
            self.status,
            *published,
            self.verdict,
            self.reason or None,
            *(side.dtype or None for side in self.sides),
            *(text_of_shape(side.shape) for side in self.sides),
            text_of_shape(self.shape),
            *cells_of_measures(m),
        ]


def compare_files(app: App, options: Options) -> int:
    """Compares the two files, writes the report and gives the exit code."""
    comparer = Comparer(Converters.of(app.host), tolerances_of(options), options.measures, options.jobs or cores())
    result = _Result(options.npy_a or "", options.npy_b or "")
    try:
        _compare(result, comparer, options)
    except RowError as error:
        result.status, result.reason = error.status, error.reason
    _publish(app, options, result)
    if result.verdict is None:
        raise AutofuseError(f"compared 0 of 1: {result.status}: {result.reason}")
    return 1 if result.verdict == FAIL else 0


def _compare(result: _Result, comparer: Comparer, options: Options) -> None:
    a = _tensor(result, 0, options.layout_a, options.shape)
    b = _tensor(result, 1, options.layout_b, options.shape)
    limits = comparer.tolerances.limits(result.paths, lower_precision(a.type, b.type))
    if a.array.size == 0 and b.array.size == 0:
        result.status, result.verdict, result.reason = OK_EMPTY, PASS, "both tensors are empty"
        return
    metrics, parts, notes, result.shape = comparer.measure(a, b, limits)
    result.metrics = metrics
    result.verdict, why = judge(metrics, limits)
    mismatches = [NAN_MISMATCH] * bool(metrics.nan_mismatches) + [INF_MISMATCH] * bool(metrics.inf_mismatches)
    result.status = joined([*parts, *mismatches])
    result.reason = "; ".join(part for part in (*notes, why) if part)


def _tensor(result: _Result, place: int, layout: Optional[str], shape: Optional[Shape]) -> Tensor:
    path = result.paths[place]
    try:
        npy = open_npy(path)
        array, kind = interpret(npy.array, npy.code, None, None)
    except RowError as error:
        where = "" if error.status == FILE_NOT_FOUND else f"{path} "
        raise RowError(error.status, f"{where}{error.reason}") from None
    layout = (layout or "ND").upper() if (layout or "ND").upper() != "C1HWNCOC0" else "C1HWNCoC0"
    result.sides[place] = Side(path, kind.name, tuple(array.shape), layout)
    return Tensor(path, array, kind, layout, shape)


def _publish(app: App, options: Options, result: _Result) -> None:
    console = is_console(options.output_format, options.output)
    app = shown_in(app, console)
    table = Table("precision", _COLUMNS, [result.cells()])
    if is_csv(options.output_format, options.output):
        table = unrounded(table)
    inputs: Tuple[str, ...] = result.paths
    report = Report(
        "precision",
        () if console else (table,),
        lead=tuple(_lines(result, app.lang)) if console else (),
        provenance=Provenance(app.command_line, inputs, {"autofuse": __version__}),
    )
    emit(app, report, options.output_format, options.output)


def _lines(result: _Result, lang: str) -> List[str]:
    """One `name: value` line for each column, in the published order; what is missing is `-`."""
    lines = []
    for column, cell in zip(_COLUMNS, result.cells()):
        name = column.label_zh if lang == "zh" and column.label_zh else column.name
        lines.append(f"{name}: {_text(cell, column)}")
    return lines


def _text(cell: Cell, column: Column) -> str:
    if cell is None:
        return "-"
    if column.format and isinstance(cell, (int, float)) and not isinstance(cell, bool):
        return column.format % cell
    return str(cell)
