"""What the fold knows of one operator in one thread: the call that is open, and what is not decided yet."""

from __future__ import annotations

from typing import Callable, List, NamedTuple, Optional, Tuple

from autofuse_att_summary.model import GroupKey, Invocation, OperatorRun

__all__ = ["Late", "StreamState"]


class Late(NamedTuple):
    """Something printed that waits for its call: its graph, what it does to the call, and where it stands."""

    graph: int
    action: Callable[[Invocation], None]
    path: str
    line: int
    key: int


class StreamState:
    """One operator in one thread: the call that is open, and what is not decided yet."""

    __slots__ = ("explicit", "group", "invocation", "late", "left", "pending", "results_seen", "run", "tid")

    def __init__(self, run: OperatorRun, tid: Optional[int]) -> None:
        self.run = run
        self.tid = tid
        self.invocation: Optional[Invocation] = None
        self.left: Optional[Invocation] = None
        """A closed call that FINAL_TILING lines may still follow."""
        self.pending: Optional[Tuple[str, int, int, int]] = None
        """A `Start` inside an open call: its path, line, position and graph (-1: the line does not tell)."""
        self.group: Optional[GroupKey] = None
        self.explicit = False
        """Start or End lines were seen."""
        self.results_seen = False
        self.late: List[Late] = []
        """Without Start lines: what was printed for groups that had chosen; of this call or of the next."""
