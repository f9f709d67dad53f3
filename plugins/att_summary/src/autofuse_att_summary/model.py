"""The run model: what one `GetTiling` call printed, as every command sees it.

run → operator → invocation → graph → result → group → template (case, sub-case). Values are kept as logged; what the
log does not say is absent. How the model is built from records is in `fold`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple, Union

from autofuse.report.model import Number
from autofuse.types import FinalTiling, FinalTilingSummary

from autofuse_att_summary.kept_lines import KeptLines

__all__ = [
    "PIPES",
    "Chunk",
    "Final",
    "FinalLine",
    "GroupKey",
    "Invocation",
    "OperatorRun",
    "ProcessKey",
    "Selected",
    "Template",
    "TemplateKey",
    "is_pipe",
    "parse_status",
    "selected_groups",
    "shape_text",
]

PIPES = (
    "AIC_MTE1",
    "AIC_MTE2",
    "AIC_FIXPIPE",
    "AIC_MAC",
    "AIV_MTE2",
    "AIV_MTE3",
    "AIV_VEC",
    "AICORE_MTE1",
    "AICORE_MTE2",
    "AICORE_MTE3",
    "AICORE_CUBE",
    "AICORE_VEC",
    "PIPE_NONE",
)
"""Names of the modelled pipes; their values are cycles."""

_PIPES = frozenset(PIPES)

GroupKey = Tuple[int, int, int]
"""(graph, result, group)"""
TemplateKey = Tuple[int, int, int, int, str]
"""(graph, result, group, case, sub-case)"""


def is_pipe(name: str) -> bool:
    """Whether a value of this name is the modelled cycles of a pipe."""
    return name in _PIPES


class ProcessKey(NamedTuple):
    """One process: the set of files it wrote, and its pid where the lines or the file name tell."""

    files: Tuple[str, ...]
    pid: Optional[int]


class FinalLine(NamedTuple):
    """One line that begins with `[FINAL_TILING`, and where it stands."""

    path: str
    line: int
    text: bytes
    cut: bool


Final = Union[FinalLine, FinalTiling, FinalTilingSummary]
"""A line of the built-in format, not decoded yet, or a record that another parser decoded."""


Chunk = Tuple[bytes, bytes, Sequence[int]]
"""Names and values joined by newlines (an empty name is the objective), and the line of each."""


class Template:
    """One candidate of a group: its values in the order they were logged, its score, and where it stands."""

    __slots__ = ("chunks", "key", "line", "path", "score")

    def __init__(self, key: TemplateKey, path: str, line: int) -> None:
        self.key = key
        self.path = path
        self.line = line
        """First line that names the template."""
        self.score: Optional[int] = None
        self.chunks: List[Chunk] = []

    @property
    def values(self) -> Dict[str, Number]:
        """Name → value of every `The value of` line, pipes included; the last print of a name counts."""
        return {name: value for name, value, _ in self._prints() if name}

    @property
    def pipes(self) -> Dict[str, Number]:
        """The modelled cycles of the pipes alone."""
        return {name: value for name, value in self.values.items() if name in _PIPES}

    @property
    def objective(self) -> Optional[Number]:
        """max(pipes) + head cost, in cycles, as logged."""
        for names, values, _ in reversed(self.chunks):
            if names == b"" or names.endswith(b"\n"):  # as the emitters print it: behind the values
                return Number(values[values.rfind(b"\n") + 1 :].decode("utf-8", "replace"))
            listed = names.split(b"\n")
            if b"" in listed:
                last = len(listed) - 1 - listed[::-1].index(b"")
                return Number(values.split(b"\n")[last].decode("utf-8", "replace"))
        return None

    @property
    def lines(self) -> Dict[str, int]:
        """Name → line of its last print; the objective under `objective`."""
        return {name or "objective": line for name, _, line in self._prints()}

    @property
    def first_line(self) -> int:
        """Line of the first value, or where the template is first named."""
        return self.chunks[0][2][0] if self.chunks else self.line

    def _prints(self) -> Iterator[Tuple[str, Number, int]]:
        for names, values, lines in self.chunks:
            for name, value, line in zip(names.split(b"\n"), values.split(b"\n"), lines):
                yield name.decode("utf-8", "replace"), Number(value.decode("utf-8", "replace")), line


class OperatorRun:
    """All invocations of one operator in one process, counted as they begin."""

    __slots__ = ("keys", "number", "operator", "process", "waiting")

    def __init__(self, operator: str, process: ProcessKey, number: int) -> None:
        self.operator = operator
        self.process = process
        self.number = number
        """Order of first appearance over the whole run."""
        self.keys: List[int] = []
        """Sorted positions of the first line of each invocation."""
        self.waiting: List[int] = []
        """Positions of `Start` lines of which it is not known yet whether they begin an invocation."""

    @property
    def count(self) -> int:
        """How many invocations there are."""
        return len(self.keys)


class Invocation:
    """What one call of `GetTiling` printed."""

    __slots__ = (
        "choice_lines",
        "choices",
        "closed_by_start",
        "ended",
        "failed",
        "failed_groups",
        "finals",
        "foreign",
        "frames",
        "graphs",
        "group_shapes",
        "groups",
        "hardware",
        "implicit",
        "incomplete",
        "kept",
        "kept_bytes",
        "key",
        "line",
        "ordinal",
        "path",
        "performances",
        "result_lines",
        "results",
        "run",
        "templates",
        "tid",
    )

    def __init__(self, run: OperatorRun, tid: Optional[int], path: str, line: int, key: int, implicit: bool) -> None:
        self.run = run
        self.tid = tid
        self.path = path
        self.line = line
        self.key = key
        """Position of the first line in the whole run; invocations are numbered in this order."""
        self.ordinal = 0
        """From 1, per operator and process; known when the invocation is given out."""
        self.implicit = implicit
        """No `Start GetTiling.` began it."""
        self.ended = False
        self.closed_by_start = False
        self.incomplete = False
        self.failed = False
        """A failure that is not of one group alone was printed."""
        self.failed_groups: Set[GroupKey] = set()
        self.graphs: Set[int] = set()
        self.groups: Dict[GroupKey, int] = {}
        """Every group that any line names, with the first such line."""
        self.group_shapes: Dict[GroupKey, Dict[str, str]] = {}
        """Symbols of `Set input params`, per group."""
        self.foreign: Set[GroupKey] = set()
        """Groups whose solver is at work for another group just now: what it prints is not theirs."""
        self.hardware: Dict[str, str] = {}
        """`ub_size` in bytes and `block_dim` in cores, as given to the solver."""
        self.templates: Dict[TemplateKey, Template] = {}
        self.choices: Dict[GroupKey, TemplateKey] = {}
        self.choice_lines: Dict[GroupKey, int] = {}
        self.results: Dict[int, int] = {}
        """Graph → result that was chosen explicitly."""
        self.result_lines: Dict[int, int] = {}
        self.performances: Dict[Tuple[int, int], Number] = {}
        self.finals: List[Final] = []
        self.kept: Dict[TemplateKey, KeptLines] = {}
        """The lines that name a template, in order; only when the fold was asked to keep them."""
        self.kept_bytes = 0
        self.frames: Dict[bytes, TemplateKey] = {}
        """Id of a FINAL_TILING frame → its template, for the lines that are kept."""

    @property
    def operator(self) -> str:
        """The raw fused_graph_name."""
        return self.run.operator

    @property
    def shape(self) -> Dict[str, str]:
        """Input shape: the symbols that group 0 of any graph and result was given; empty for a static operator."""
        shape: Dict[str, str] = {}
        for (_, _, group), symbols in self.group_shapes.items():
            if group == 0:
                for name, value in symbols.items():
                    shape.setdefault(name, value)
        return shape

    @property
    def chose(self) -> bool:
        """Whether anything was chosen for good, or written as the final choice."""
        return bool(self.choices or self.results or self.finals) and not self._gave_up

    @property
    def _gave_up(self) -> bool:
        """A failure of the whole call and no result: a template that one of its groups chose before leads nowhere."""
        return self.failed and not (self.results or self.performances or self.finals)

    @property
    def tiling_failed(self) -> bool:
        """The call ended with no result and no template chosen, or said that it failed as a whole."""
        if self.chose:
            return False
        ended = self.ended or self.closed_by_start
        return self.failed or (ended and not self.implicit) or (ended and bool(self.failed_groups))

    def performance(self, graph: Optional[int], result: Optional[int]) -> Optional[Number]:
        """Modelled cycles of a result, as logged."""
        return None if graph is None or result is None else self.performances.get((graph, result))

    def template(self, key: GroupKey) -> Optional[Template]:
        """The chosen template of the group; None when the group chose none."""
        chosen = self.choices.get(key)
        return self.templates.get(chosen) if chosen else None


@dataclass(frozen=True)
class Selected:
    """One group of one invocation as a row shows it."""

    invocation: Invocation
    graph: Optional[int]
    result: Optional[int]
    group: Optional[int]
    template: Optional[Template]
    status: str
    performance: Optional[Number]


def shape_text(shape: Dict[str, str]) -> str:
    """`s0=1024 s1=512`."""
    return " ".join(f"{name}={value}" for name, value in shape.items())


def selected_groups(invocation: Invocation, everything: bool = False) -> List[Selected]:
    """Every group of the chosen result of each graph, or (`everything`) every chosen template.

    An invocation that chose nothing has one row of its own, so that it is not lost.
    """
    if invocation.tiling_failed and not everything:
        return [_row(invocation, None, None, None)]
    rows: List[Selected] = []
    for graph in sorted(invocation.graphs | set(invocation.results)):
        rows.extend(_graph_rows(invocation, graph, everything))
    return rows or [_row(invocation, None, None, None)]


def _graph_rows(invocation: Invocation, graph: int, everything: bool) -> List[Selected]:
    chosen = invocation.results.get(graph)
    with_choice = sorted({key[1] for key in invocation.choices if key[0] == graph})
    if everything:
        groups = {key for key in invocation.choices if key[0] == graph}
        if chosen is not None:
            groups |= {key for key in invocation.groups if key[:2] == (graph, chosen)}
    else:
        results = with_choice if chosen is None else [chosen]
        groups = {key for key in invocation.groups if key[0] == graph and key[1] in results}
        if chosen is None:
            groups &= set(invocation.choices)
    if groups:
        return [_row(invocation, *key) for key in sorted(groups)]
    if chosen is not None:
        return [_row(invocation, graph, chosen, None)]
    return [_row(invocation, graph, None, None)] if invocation.choices or invocation.results else []


def _row(invocation: Invocation, graph: Optional[int], result: Optional[int], group: Optional[int]) -> Selected:
    template = None
    if graph is not None and result is not None and group is not None:
        template = invocation.template((graph, result, group))
    status = parse_status(invocation, graph, result, group)
    return Selected(invocation, graph, result, group, template, status, invocation.performance(graph, result))


def parse_status(invocation: Invocation, graph: Optional[int], result: Optional[int], group: Optional[int]) -> str:
    """The codes that apply to a row, in their published order, or `ok`."""
    codes = ["tiling_failed"] if invocation.tiling_failed else _missing(invocation, graph, result, group)
    if invocation.incomplete:
        codes.append("incomplete_invocation")
    return ";".join(codes) or "ok"


def _missing(invocation: Invocation, graph: Optional[int], result: Optional[int], group: Optional[int]) -> List[str]:
    if graph is None or result is None:
        return ["missing_graph_result"]
    codes: List[str] = []
    explicit = invocation.results.get(graph) == result
    template = None if group is None else invocation.template((graph, result, group))
    if graph not in invocation.results:
        inferred = any(key[0] == graph for key in invocation.choices)
        codes.append("inferred_graph_result" if inferred else "missing_graph_result")
    if template is None:
        codes.append("missing_group_case")
    if explicit and invocation.performance(graph, result) is None:
        codes.append("missing_result_performance")
    if template is not None and not template.chunks:
        codes.append("missing_tiling_values")
    return codes
