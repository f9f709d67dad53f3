"""The summary table: its published columns, and how a group of an invocation becomes a row of it."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from autofuse.report.model import Cell, Column, Number, Table

from autofuse_att_summary.exact import EXACT, exact, fixed
from autofuse_att_summary.final_tiling import FinalRecord, RawNumber, decode_finals
from autofuse_att_summary.ladder import ladder_of
from autofuse_att_summary.model import (
    PIPES,
    GroupKey,
    Invocation,
    OperatorRun,
    Selected,
    Template,
    parse_status,
    selected_groups,
    shape_text,
)

__all__ = ["Row", "bottleneck", "build_table", "head_cost", "rows_of_invocation"]

_OWN_VALUES = ("AIV_MTE2", "AIV_MTE3", "ub_size", "block_dim")
"""Values that have a fixed column."""

_FIRST = (
    Column("Operator", "text", meaning="fused_graph_name", label_zh="算子"),
    Column("Graph", "int", meaning="asc graph", label_zh="图"),
    Column("Result", "int", meaning="schedule result", label_zh="结果"),
    Column("Group", "int", meaning="schedule group", label_zh="组"),
    Column("Case", "int", meaning="tiling case of the chosen template", label_zh="模板"),
    Column("AIV_MTE2", "float", "cycles", "modelled cycles of the pipe"),
    Column("AIV_MTE3", "float", "cycles", "modelled cycles of the pipe"),
    Column("Objective Value", "float", "cycles", "largest pipe plus head cost", label_zh="目标值"),
    Column("Result Perf", "float", "cycles", "modelled performance of the result", label_zh="结果性能"),
)
_SIZES = (
    Column("ub_size", "int", "bytes", "UB that the template uses"),
    Column("block_dim", "int", "cores", "cores that the template uses"),
)
_FINAL = (
    Column("Final Source", "text", meaning="who wrote the tiling data: runtime or pgo"),
    Column("Tiling Key", "int", meaning="tiling key that was written"),
    Column("Score", "int", meaning="score of the chosen template"),
    Column("Pipe Estimate", "text", "cycles", "pipe estimates as compact JSON", hidden=True),
    Column("Tiling Repr", "text", meaning="the tiling data that was written", hidden=True),
    Column("Final Parse Status", "text", meaning="status of the FINAL_TILING record"),
)
_LAST = (
    Column("Sub Case", "text", meaning="tag of the sub-case", label_zh="子模板"),
    Column("Parse Status", "text", meaning="ok, or what the log does not say", label_zh="解析状态"),
    Column("Bottleneck Pipe", "text", meaning="largest modelled pipe", label_zh="瓶颈"),
    Column("Head Cost", "float", "cycles", "objective minus the largest pipe", label_zh="头开销"),
    Column("Invocation", "int", meaning="ordinal of the call, from 1", label_zh="调用"),
    Column("Invocations", "int", meaning="calls of this operator in this process", label_zh="调用数"),
    Column("Input Shape", "text", meaning="symbols of the call", label_zh="输入形状"),
    Column("Source", "text", meaning="log file", label_zh="来源", hidden=True),
    Column("Line", "int", meaning="line of the log", label_zh="行", hidden=True),
)
_FIXED = frozenset(column.name for block in (_FIRST, _SIZES, _FINAL, _LAST) for column in block) - set(_OWN_VALUES)


_PIPES_BY_NAME = tuple(sorted(PIPES))


class Row:
    """One row, small enough to keep many: the values stay as they were logged until the table is written."""

    __slots__ = (
        "case",
        "final",
        "graph",
        "group",
        "ladder",
        "line",
        "ordinal",
        "path",
        "performance",
        "result",
        "run",
        "shape",
        "status",
        "sub_case",
        "template",
    )

    def __init__(self, selected: Selected, record: Optional[FinalRecord] = None) -> None:
        invocation = selected.invocation
        self.run: OperatorRun = invocation.run
        self.ordinal = invocation.ordinal
        self.graph = selected.graph
        self.result = selected.result
        self.group = selected.group
        self.template: Optional[Template] = selected.template
        self.performance: Optional[Number] = selected.performance
        self.status = selected.status
        self.shape = shape_text(invocation.shape)
        self.path = self.template.path if self.template else invocation.path
        self.line = self.template.first_line if self.template else invocation.line
        self.case = self.template.key[3] if self.template else None
        """The chosen case, without its tag."""
        self.sub_case = self.template.key[4] if self.template else ""
        self.ladder = ladder_of(invocation, self.group_key, self.template)
        self.final: Tuple[Cell, ...] = (None,) * len(_FINAL)
        if record is not None:
            self._join(record)

    @property
    def group_key(self) -> Optional[GroupKey]:
        """(graph, result, group); None unless all are known."""
        if self.graph is None or self.result is None or self.group is None:
            return None
        return (self.graph, self.result, self.group)

    @property
    def order(self) -> Tuple[int, ...]:
        """Graph, result and group for sorting; absent ids first."""
        return tuple(-2 if part is None else part for part in (self.graph, self.result, self.group))

    def _join(self, record: FinalRecord) -> None:
        self.case = record.ids.get("case_id")
        self.sub_case = record.sub_case
        if self.template is None:
            self.path, self.line = record.path, record.line
        estimates = record.pipe_estimates
        self.final = (
            record.fields.get("source"),
            record.ids.get("tiling_key"),
            record.ids.get("score"),
            None if estimates is None else _compact(estimates),
            record.payload,
            record.status,
        )


def rows_of_invocation(invocation: Invocation, everything: bool = False) -> List[Row]:
    """One row per FINAL_TILING record, and one for each selected group that has none; nothing else is kept."""
    records = [record for record in decode_finals(invocation.finals, invocation.operator) if not record.summary]
    rows = [Row(_selected(invocation, record), record) for record in records]
    # A damaged record that does not tell its template says nothing about the one that was chosen.
    written = {(row.graph, row.result, row.group) for row in rows if row.template or row.final[-1] == "ok"}
    for selected in selected_groups(invocation, everything):
        found = selected.graph is None and bool(rows)
        if not found and (selected.graph, selected.result, selected.group) not in written:
            rows.append(Row(selected))
    return rows


def _selected(invocation: Invocation, record: FinalRecord) -> Selected:
    """The group that a record names, with the logged values of the same template."""
    ids = record.ids
    graph, result, group, case = (ids.get(name) for name in ("graph", "result", "group", "case_id"))
    template = None
    if graph is not None and result is not None and group is not None and case is not None:
        template = invocation.templates.get((graph, result, group, case, record.sub_case))
    status = parse_status(invocation, graph, result, group)
    return Selected(invocation, graph, result, group, template, status, invocation.performance(graph, result))


def _compact(estimates: Mapping[str, Optional[RawNumber]]) -> str:
    return "{" + ",".join(f"{json.dumps(n)}:{'null' if v is None else v}" for n, v in estimates.items()) + "}"


def build_table(rows: Sequence[Row], title: str = "") -> Table:
    """The table of the rows, with a column for every value name that occurs."""
    others = sorted(_value_names(rows))
    has_final = any(row.final[0] is not None or row.final[-1] is not None for row in rows)
    final = _FINAL if has_final else tuple(_hide(column) for column in _FINAL)
    middle = tuple(Column(_column_name(name), "any", meaning="value of the template", hidden=True) for name in others)
    last = tuple(_show(column) if column.name == "Source" and _several_files(rows) else column for column in _LAST)
    columns = (*_FIRST, *middle, *_SIZES, *final, *last)
    return Table("summary", columns, _Cells(rows, others), title=title)


def bottleneck(template: Optional[Template]) -> Optional[str]:
    """The largest pipe; nan is ignored, of equal ones the first by name counts."""
    return _largest(template.values) if template else None


def head_cost(template: Optional[Template]) -> Optional[Number]:
    """Objective minus the largest pipe in cycles, exact in the log's decimals; None when either is absent or nan."""
    pipe = bottleneck(template)
    return _difference(template.objective, template.values[pipe]) if template and pipe else None


def _largest(values: Mapping[str, Number]) -> Optional[str]:
    best: Optional[Tuple[float, str]] = None
    for name in _PIPES_BY_NAME:
        value = values.get(name)
        cycles = float(value.value) if value is not None else math.nan
        if cycles == cycles and (best is None or cycles > best[0]):
            best = (cycles, name)
    return best[1] if best else None


def _difference(objective: Optional[Number], cycles: Optional[Number]) -> Optional[Number]:
    whole, part = exact(objective), exact(cycles)
    difference = None if whole is None or part is None else EXACT.subtract(whole, part)
    return None if difference is None or difference.is_nan() else Number(fixed(difference))


class _Cells:
    """The cells of the rows, made anew at each iteration: they are kept nowhere."""

    def __init__(self, rows: Sequence[Row], others: Sequence[str]) -> None:
        self.rows = rows
        self.others = others

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[List[Cell]]:
        for row in self.rows:
            yield _cells(row, self.others)


def _cells(row: Row, others: Sequence[str]) -> List[Cell]:
    values: Dict[str, Number] = row.template.values if row.template else {}
    objective = row.template.objective if row.template else None
    pipe = _largest(values)
    return [
        row.run.operator,
        row.graph,
        row.result,
        row.group,
        row.case,
        values.get("AIV_MTE2"),
        values.get("AIV_MTE3"),
        objective,
        row.performance,
        *(values.get(name) for name in others),
        values.get("ub_size"),
        values.get("block_dim"),
        *row.final,
        row.sub_case or None,
        row.status,
        pipe,
        _difference(objective, values.get(pipe) if pipe else None),
        row.ordinal,
        row.run.count,
        row.shape or None,
        row.path,
        row.line,
    ]


def _value_names(rows: Sequence[Row]) -> set[str]:
    seen = {names for row in rows if row.template for names, _, _ in row.template.chunks}
    return {name.decode("utf-8", "replace") for names in seen for name in names.split(b"\n") if name} - set(_OWN_VALUES)


def _column_name(name: str) -> str:
    """`Case (value)` for a value named `Case`, and then one more suffix for a value named `Case (value)`."""
    base = name
    while base.endswith(_SUFFIX):
        base = base[: -len(_SUFFIX)]
    return name + _SUFFIX if base in _FIXED else name


_SUFFIX = " (value)"


def _several_files(rows: Sequence[Row]) -> bool:
    """Whether an operator has rows of more than one file, which only the source tells apart."""
    first: Dict[str, str] = {}
    return any(first.setdefault(row.run.operator, row.path) != row.path for row in rows)


def _show(column: Column) -> Column:
    return dataclasses.replace(column, hidden=False)


def _hide(column: Column) -> Column:
    return dataclasses.replace(column, hidden=True)
