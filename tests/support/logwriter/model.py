"""What a run of generated tiling code did, told from its side: the model that the log writer turns into text.

It knows nothing of the parsers; what they should make of it is in `expected`, how it reads as text in `messages`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional, Tuple

__all__ = [
    "Call",
    "Candidate",
    "Compilation",
    "FinalTiling",
    "FinalTilingSummary",
    "Graph",
    "Group",
    "GroupKey",
    "Pairs",
    "Process",
    "Producer",
    "Result",
    "Run",
    "Solution",
    "TemplateKey",
    "Thread",
]

Pairs = Tuple[Tuple[str, str], ...]
"""Names and the texts of their values, in the order they are printed."""
GroupKey = Tuple[int, int, int]
"""(graph, result, group)"""
TemplateKey = Tuple[int, int, int, int, str]
"""(graph, result, group, case, sub-case)"""


@dataclass(frozen=True)
class Solution:
    """What `TilingSummary` prints of one solved template: search variables, sizes, buffers and pipes; the objective."""

    values: Pairs = ()
    objective: Optional[str] = None


@dataclass(frozen=True)
class Candidate:
    """One template of a group. Without a solution the solver found nothing that fits."""

    case: int
    sub_case: str = ""
    solution: Optional[Solution] = Solution()
    score: int = 0


@dataclass(frozen=True)
class Group:
    """One schedule group of a result."""

    id: int
    candidates: Tuple[Candidate, ...]
    chosen: Optional[int] = 0
    """Index of the candidate that won; None: none fits, `GetTiling Failed.`"""
    shape: Pairs = ()
    """Symbols of `Set input params`: of the input for group 0, derived ones for later groups."""
    second: Optional[Solution] = None
    """The winner solved again after the choice."""
    times: int = 1
    """2 when another group has the same solver: its lines come under this group's id."""

    @property
    def winner(self) -> Optional[Candidate]:
        """The chosen candidate."""
        return None if self.chosen is None else self.candidates[self.chosen]


@dataclass(frozen=True)
class Result:
    """One schedule result that was tried."""

    id: int
    groups: Tuple[Group, ...]
    performance: Optional[str] = None
    """Printed when every group has a choice."""

    @property
    def feasible(self) -> bool:
        """Whether every group has a choice."""
        return all(group.chosen is not None for group in self.groups)


@dataclass(frozen=True)
class Graph:
    """One asc graph of a call."""

    id: int
    results: Tuple[Result, ...]
    chosen: Optional[int] = None
    """Id of the best result; None when none is feasible."""


@dataclass(frozen=True)
class FinalTiling:
    """One FINAL_TILING record: the tiling data that the runtime wrote for a group."""

    graph: int
    result: int
    group: int
    case: int
    tiling_key: int = 0
    sub_case: str = ""
    score: int = 0
    source: str = "runtime"
    selection_mode: str = "default"
    template: str = ""
    representation: Optional[str] = "{}"
    """The payload as text; None: `repr_kind="unavailable"`."""
    pipe_estimates: Tuple[Tuple[str, Optional[str]], ...] = ()
    extra: Pairs = ()
    """Further keys, as later producers may add."""


@dataclass(frozen=True)
class FinalTilingSummary:
    """The groups that a multi-group selection chose together."""

    graph: int
    result: int
    groups: Tuple[FinalTiling, ...]
    source: str = "runtime"
    selection_mode: str = "default"


@dataclass(frozen=True)
class Call:
    """One call of `GetTiling`.

    With a single group in a single result of a single graph neither group brackets nor result lines are printed.
    """

    operator: str
    graphs: Tuple[Graph, ...]
    start: bool = True
    end: bool = True
    finals: Tuple[FinalTiling, ...] = ()
    summaries: Tuple[FinalTilingSummary, ...] = ()
    finals_after_end: bool = False

    @property
    def single(self) -> bool:
        """Whether there is nothing to choose but a template."""
        return len(self.graphs) == 1 and len(self.graphs[0].results) == 1 and len(self.graphs[0].results[0].groups) == 1

    @property
    def fails(self) -> bool:
        """Whether some graph has no feasible result: the call returns false."""
        return any(not any(result.feasible for result in graph.results) for graph in self.graphs)


@dataclass(frozen=True)
class Compilation:
    """One compile of an asc graph: the `[DFX]` blocks of its groups, and the lines inside each."""

    graph_name: str
    cases: Tuple[int, ...] = (0,)
    graph: int = 0
    result: int = 0
    group: int = 0
    content: Tuple[str, ...] = ()
    ends: bool = True


@dataclass(frozen=True)
class Thread:
    """What one thread did, in order."""

    tid: int
    calls: Tuple[Call, ...] = ()
    compilations: Tuple[Compilation, ...] = ()


@dataclass(frozen=True)
class Process:
    """One process."""

    pid: int
    threads: Tuple[Thread, ...]
    name: str = "python3"


@dataclass(frozen=True)
class Producer:
    """Which generation of the code generator wrote the messages; the defaults are the newest one."""

    scores: bool = True
    """`tiling caseTc of asc_graph… score is …`"""
    score_map: bool = True
    update_best: bool = True
    hardware: str = "params"
    """`params`: `Set hardware params.`; `input`: `input: core_num: …, ub_size: …` of older ones; `` for none."""
    performance_tail: str = ""
    """What follows `The value of graphG_resultR is X`: nothing, a full stop, or ` objective(…)`."""
    case_in_id: bool = False
    """The template line has the case in the id."""
    starts_name_graph: bool = False
    """Each graph's `Start GetTiling.` comes from a file that names the graph (always so for a single group)."""
    failure_level: str = "WARNING"
    expressions: bool = False
    """Long `Set ub_size … to <expression>` lines that go on in lines of expression text only."""
    debug: bool = False
    """DEBUG chatter of the solver between the lines that matter."""
    hash_algorithm: Optional[str] = "att_mix64_v1"
    """Of FINAL_TILING frames; None: sha256 without a `hash_alg` field."""
    quoted: bool = True
    """Whether FINAL_TILING text fields stand in quotes."""
    frame_limit: int = 700
    """Longer FINAL_TILING lines are framed."""
    chunk_size: int = 400
    """Bytes of escaped payload per chunk."""


@dataclass(frozen=True)
class Run:
    """Everything that is logged together."""

    processes: Tuple[Process, ...]
    producer: Producer = field(default_factory=Producer)
