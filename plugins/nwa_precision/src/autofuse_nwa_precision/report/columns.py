"""The columns of the tables: the published ones with their Chinese headings and formats, then everything else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Callable, List, Optional, Sequence, Tuple

from autofuse.report.model import Cell, Column, Table

from autofuse_nwa_precision.rows import Row

if TYPE_CHECKING:
    from autofuse_nwa_precision.metrics import Metrics
    from autofuse_nwa_precision.metrics.model import Number

__all__ = ["MEASURES", "cells_of_measures", "main_table", "side_word", "text_of_shape", "unrounded", "value_text"]

_Getter = Callable[[Row], Cell]
_Measure = Callable[["Metrics"], Cell]

_SIDES = {"zh": {"output": "输出", "input": "输入"}}

_PERCENTILE = (
    "of |a-b| / (max(|a|,|b|) + 1e-8); from logarithmic bins, off by at most 1/64 of itself (below 2^-64: by 2^-64)"
)


def _measure(
    name: str, kind: str, meaning: str, get: _Measure, text_format: str = "", zh: str = "", unit: str = ""
) -> Tuple[Column, _Measure]:
    return Column(name, kind, unit, meaning, zh, format=text_format, hidden=True), get


MEASURES: Tuple[Tuple[Column, _Measure], ...] = (
    _measure("elements", "int", "elements of each tensor", lambda m: m.elements, zh="元素数"),
    _measure("compared", "int", "elements where both sides are finite", lambda m: m.compared, zh="有效元素数"),
    _measure("rel_l2", "float", "|a-b| / |b|, L2 norms", lambda m: m.rel_l2, "%.4e", "相对L2误差"),
    _measure("norm_ratio", "float", "|a| / |b|, L2 norms", lambda m: m.norm_ratio, "%.8f", "范数比"),
    _measure("mean_abs_error", "float", "mean of |a-b|", lambda m: m.mean_abs, "%.4e", "绝对误差均值"),
    _measure("rmse", "float", "root of the mean of |a-b|^2", lambda m: m.rmse, "%.4e", "均方根误差"),
    _measure("p50_rel_error", "float", f"median {_PERCENTILE}", lambda m: m.p50_rel, "%.4e", "相对误差P50"),
    _measure("p99_rel_error", "float", f"99th percentile {_PERCENTILE}", lambda m: m.p99_rel, "%.4e", "相对误差P99"),
    _measure(
        "over_1_permille",
        "float",
        "share of elements above 1e-3",
        lambda m: m.over_1_permille,
        "%.6f",
        "超千分之一占比",
    ),
    _measure(
        "over_5_permille",
        "float",
        "share of elements above 5e-3",
        lambda m: m.over_5_permille,
        "%.6f",
        "超千分之五占比",
    ),
    _measure("bit_equal", "any", "same dtype and same bits", lambda m: m.bit_equal, zh="按位相等"),
    _measure("max_ulp", "int", "largest distance in representable values", lambda m: m.max_ulp, zh="最大ULP距离"),
    _measure(
        "zeros_in_reference", "int", "zeros of the original side", lambda m: m.zeros_in_reference, zh="参考零元素数"
    ),
    _measure(
        "rtol_needed",
        "float",
        "smallest rtol that passes at the atol in force",
        lambda m: m.rtol_needed,
        "%.4e",
        "所需rtol",
    ),
    _measure(
        "violations", "int", "elements that break |a-b| <= atol + rtol*|b|", lambda m: m.violations, zh="超差元素数"
    ),
    _measure("nan_open", "int", "NaN on the fused side", lambda m: m.nonfinite_a.nan),
    _measure("pos_inf_open", "int", "+Inf on the fused side", lambda m: m.nonfinite_a.pos_inf),
    _measure("neg_inf_open", "int", "-Inf on the fused side", lambda m: m.nonfinite_a.neg_inf),
    _measure("nan_close", "int", "NaN on the original side", lambda m: m.nonfinite_b.nan),
    _measure("pos_inf_close", "int", "+Inf on the original side", lambda m: m.nonfinite_b.pos_inf),
    _measure("neg_inf_close", "int", "-Inf on the original side", lambda m: m.nonfinite_b.neg_inf),
    _measure("nan_equal", "int", "NaN at equal places", lambda m: m.nonfinite_equal.nan),
    _measure("pos_inf_equal", "int", "+Inf at equal places", lambda m: m.nonfinite_equal.pos_inf),
    _measure("neg_inf_equal", "int", "-Inf at equal places", lambda m: m.nonfinite_equal.neg_inf),
    _measure("nan_mismatches", "int", "NaN against a number", lambda m: m.nan_mismatches),
    _measure("inf_mismatches", "int", "Inf against another value", lambda m: m.inf_mismatches),
    _measure(
        "first_nan_mismatch", "text", "index in the original layout", lambda m: text_of_shape(m.first_nan_mismatch)
    ),
    _measure(
        "first_inf_mismatch", "text", "index in the original layout", lambda m: text_of_shape(m.first_inf_mismatch)
    ),
    _measure(
        "worst_index",
        "text",
        "largest |a-b|, in the original layout",
        lambda m: text_of_shape(m.worst.index) if m.worst else None,
    ),
    _measure("worst_open", "any", "fused value there", lambda m: value_cell(m.worst.a) if m.worst else None),
    _measure("worst_close", "any", "original value there", lambda m: value_cell(m.worst.b) if m.worst else None),
)
"""Every measure but the published ones and the scale-free cosine, which have their own places."""


def main_table(rows: Sequence[Row], lang: Optional[str]) -> Table:
    """The table of all rows; `lang` "zh" writes the side in Chinese, as the published console table does."""
    columns = _columns(lang)
    getters = [get for _, get in columns]
    cells = [[get(row) for get in getters] for row in rows]
    return Table("precision", tuple(column for column, _ in columns), cells)


def unrounded(table: Table) -> Table:
    """The table without the formats of the console, for files that programs read: every digit is kept."""
    return replace(table, columns=tuple(replace(column, format="") for column in table.columns))


def side_word(side: str, lang: Optional[str]) -> str:
    """`output` or `input`, or its word in the published table."""
    return _SIDES.get(lang or "", {}).get(side, side)


def text_of_shape(shape: Optional[Sequence[int]]) -> Optional[str]:
    """`[1, 3, 224]`; None stays None."""
    return None if shape is None else "[" + ", ".join(map(str, shape)) + "]"


def value_cell(value: Number) -> Cell:
    """An element's value; a complex one as text."""
    return str(value) if isinstance(value, complex) else value


def value_text(value: Number) -> str:
    """An element's value in a sentence."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def cells_of_measures(metrics: Optional[Metrics]) -> List[Cell]:
    """The cells of `MEASURES`."""
    return [None if metrics is None else get(metrics) for _, get in MEASURES]


def _columns(lang: Optional[str]) -> List[Tuple[Column, _Getter]]:
    return [*_published(lang), *_verdicts(), *_sources(), *((column, _of(get)) for column, get in MEASURES)]


def _of(get: _Measure) -> _Getter:
    return lambda row: None if row.metrics is None else get(row.metrics)


def _published(lang: Optional[str]) -> List[Tuple[Column, _Getter]]:
    return [
        (
            Column("side", "text", "", "output or input of the fused operator", "类型"),
            lambda r: side_word(r.pair.side, lang),
        ),
        (Column("fused_op_name", "text", "", "fused operator", "融合算子名"), lambda r: r.pair.fused.name),
        (Column("fused_index", "int", "", "index of its output or input", "索引"), lambda r: r.pair.index),
        (Column("origin_op_name", "text", "", "original operator", "原算子名"), lambda r: r.pair.origin_name or None),
        (Column("origin_index", "int", "", "index of its output", "原索引"), lambda r: r.pair.origin_index),
        (
            Column("cosine_similarity", "float", "", "dot(a,b) / (|a||b| + 1e-8)", "余弦相似度", format="%.8f"),
            _of(lambda m: m.cosine),
        ),
        (Column("max_abs_error", "float", "", "max |a-b|", "绝对误差最大值", format="%.4e"), _of(lambda m: m.max_abs)),
        (
            Column("max_rel_error", "float", "", "max |a-b| / (max(|a|,|b|) + 1e-8)", "相对误差最大值", format="%.4e"),
            _of(lambda m: m.max_rel),
        ),
        (Column("status", "text", "", "what was done, or why not", "状态"), lambda r: r.status),
    ]


def _verdicts() -> List[Tuple[Column, _Getter]]:
    return [
        (
            Column("cosine_scale_free", "float", "", "dot(a,b) / (|a||b|)", "无尺度余弦", format="%.8f"),
            _of(lambda m: m.cosine_scale_free),
        ),
        (Column("verdict", "text", "", "pass, warn, fail, WITHIN_NOISE or MORE_ACCURATE", "结论"), lambda r: r.verdict),
        (Column("blame", "text", "", "ROOT or PROPAGATED", "归因", hidden=True), lambda r: r.blame),
        (
            Column("amplification", "float", "", "rel_l2 of the output / the largest of its inputs", "放大倍数",
                   format="%.4g", hidden=True),
            lambda r: r.amplification,
        ),
    ]  # fmt: skip


def _sources() -> List[Tuple[Column, _Getter]]:
    return [
        _hidden("open_dtype", lambda r: r.open.dtype or None),
        _hidden("close_dtype", lambda r: r.close.dtype or None),
        _hidden("open_shape", lambda r: text_of_shape(r.open.shape)),
        _hidden("close_shape", lambda r: text_of_shape(r.close.shape)),
        _hidden("open_layout", lambda r: r.open.layout or None),
        _hidden("close_layout", lambda r: r.close.layout or None),
        _hidden("open_path", lambda r: r.open.path or None),
        _hidden("close_path", lambda r: r.close.path or None),
        (Column("step", "int", "", "k-th dump of the operator in both runs", "步", hidden=True), lambda r: r.pair.step),
        (Column("reason", "text", "", "why it is skipped, warns or fails", "原因", hidden=True), lambda r: r.reason),
        _hidden("compared_shape", lambda r: text_of_shape(r.compared_shape)),
        _hidden("place", lambda r: r.pair.place or None),
        _hidden("graph", lambda r: r.pair.graph or None),
        (Column("noise_rel_l2", "float", format="%.4e", hidden=True), lambda r: r.noise_rel_l2),
        (Column("reference_open_rel_l2", "float", format="%.4e", hidden=True), lambda r: r.reference_open),
        (Column("reference_close_rel_l2", "float", format="%.4e", hidden=True), lambda r: r.reference_close),
    ]


def _hidden(name: str, get: _Getter) -> Tuple[Column, _Getter]:
    return Column(name, "text", hidden=True), get
