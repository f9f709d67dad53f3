"""The lines before and after the table: the roots first, then how the rows went, then the published lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Mapping, Optional, Sequence, Tuple

from autofuse_nwa_precision.blame import PROPAGATED, ROOT, Flow
from autofuse_nwa_precision.pairing import INPUT, OUTPUT
from autofuse_nwa_precision.report.columns import side_word, text_of_shape, value_text
from autofuse_nwa_precision.rows import Row, Summary
from autofuse_nwa_precision.statuses import SKIPPED_CONST_DATA
from autofuse_nwa_precision.tolerance import PASS

__all__ = ["Context", "lead_lines", "note_lines"]

_MOST_ROOTS = 20
_MOST_NOTES = 30


@dataclass(frozen=True)
class Context:
    """What the lines speak of."""

    rows: Sequence[Row]
    summary: Summary
    flow: Flow
    mappings: Mapping[str, int]
    graphs: Tuple[str, str]
    compare_input: bool
    lang: str


def lead_lines(context: Context) -> Tuple[str, ...]:
    """The answer, then the published lines."""
    return (*_root_lines(context), _summary_line(context), *_published_lines(context))


def note_lines(context: Context) -> Tuple[str, ...]:
    """Why rows were not compared, and what compared rows have to say."""
    told = [row for row in context.rows if row.reason and row.verdict != PASS and not _told_elsewhere(row)]
    noted = [row for row in context.rows if row.reason and row.verdict == PASS]
    lines = [f"{_tensor(row, context.lang)}: {row.status}: {row.reason}" for row in [*told, *noted]]
    if len(lines) > _MOST_NOTES:
        more = len(lines) - _MOST_NOTES
        rest = (
            f"… 另有 {more} 行, 见 jsonl 的 reason"
            if context.lang == "zh"
            else f"… and {more} more: see reason in jsonl"
        )
        lines = [*lines[:_MOST_NOTES], rest]
    return tuple(lines)


def _told_elsewhere(row: Row) -> bool:
    """Roots stand in front; constants are nothing to talk about."""
    return row.blame == ROOT or row.status == SKIPPED_CONST_DATA


def _root_lines(context: Context) -> List[str]:
    order = {node[1]: place for place, node in enumerate(context.flow.order)}
    roots = [row for row in context.rows if row.blame == ROOT]
    roots.sort(key=lambda row: (row.pair.step, order.get(row.pair.fused.name, len(order)), row.pair.index))
    lines = [_root_line(row, context) for row in roots[:_MOST_ROOTS]]
    more = len(roots) - len(lines)
    if more:
        lines.append(f"… 另有 {more} 个 ROOT" if context.lang == "zh" else f"… and {more} more ROOT")
    behind = sum(row.blame == PROPAGATED for row in context.rows)
    if behind:
        lines.append(
            f"其后 PROPAGATED {behind} 行"
            if context.lang == "zh"
            else f"{PROPAGATED}: {behind} rows behind them fail too"
        )
    return lines


def _root_line(row: Row, context: Context) -> str:
    text = f"{ROOT}: {_tensor(row, context.lang)}: {row.reason}"
    if row.amplification is not None:
        word = "放大" if context.lang == "zh" else "amplification"
        text += f"; {word} {row.amplification:.3g}"
    text += _worst_element(row, context.lang)
    lost = context.flow.ancestors_among(row.pair.fused.name, _lost(context.rows, row.pair.step))
    if lost:
        names = ", ".join(lost[:3]) + (" …" if len(lost) > 3 else "")
        text += f"; 其前未能比较: {names}" if context.lang == "zh" else f"; not compared before it: {names}"
    return text


def _worst_element(row: Row, lang: str) -> str:
    worst = row.metrics.worst if row.metrics else None
    if worst is None:
        return ""
    place, a, b = text_of_shape(worst.index), value_text(worst.a), value_text(worst.b)
    return f"; 最差元素 {place}: {a} 对 {b}" if lang == "zh" else f"; worst element {place}: {a} against {b}"


def _lost(rows: Sequence[Row], step: int) -> frozenset[str]:
    """Fused operators of which no output was compared at this step."""
    compared = {row.pair.fused.name for row in rows if row.verdict is not None and row.pair.side == OUTPUT}
    return frozenset(row.pair.fused.name for row in rows if row.pair.side == OUTPUT) - compared


def _tensor(row: Row, lang: str) -> str:
    pair = row.pair
    origin = f" ({pair.origin_name}:{pair.origin_index})" if pair.origin_name else ""
    step = "" if not pair.step else f" 步 {pair.step}" if lang == "zh" else f" step {pair.step}"
    return f"{pair.fused.name} {side_word(pair.side, lang)} {pair.index}{origin}{step}"


def _summary_line(context: Context) -> str:
    summary, counts = context.summary, _counts(context.rows)
    told = ", ".join(f"{word} {count}" for word, count in counts.items())
    skipped = summary.rows - summary.compared
    if context.lang == "zh":
        return f"比较 {summary.compared}/{summary.rows} 行: {told or '无'}" + (f", 跳过 {skipped}" if skipped else "")
    return f"compared {summary.compared} of {summary.rows} rows: {told or 'none'}" + (
        f", skipped {skipped}" if skipped else ""
    )


def _counts(rows: Sequence[Row]) -> Dict[str, int]:
    counts: Dict[str, int] = {}
    for row in rows:
        if row.verdict is not None:
            counts[row.verdict] = counts.get(row.verdict, 0) + 1
    return dict(sorted(counts.items()))


def _published_lines(context: Context) -> List[str]:
    opened, closed = context.graphs
    found: Dict[str, Optional[int]] = {OUTPUT: context.mappings[OUTPUT]}
    if context.compare_input:
        found[INPUT] = context.mappings[INPUT]
    if context.lang == "zh":
        lines = [f"解析开启融合 dump 图 {opened}", f"解析关闭融合 dump 图 {closed}"]
        return [*lines, *(f"找到 {count} 个融合算子{side_word(side, 'zh')}映射" for side, count in found.items())]
    lines = [f"dump graph with fusion on: {opened}", f"dump graph with fusion off: {closed}"]
    return [*lines, *(f"found {count} mapped {side}s of fused operators" for side, count in found.items())]
