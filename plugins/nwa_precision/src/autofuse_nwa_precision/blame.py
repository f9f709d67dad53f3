"""Who made the result worse: follows failures through the open graph and tells roots from what they passed on.

The graph's data edges are followed, into and out of subgraphs; control edges carry no error.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from dataclasses import dataclass, field
from typing import Dict, FrozenSet, Iterable, Iterator, List, Optional, Sequence, Set, Tuple

from autofuse_nwa_precision.graphs.model import Graph, Operator, Source
from autofuse_nwa_precision.pairing import CONSTANT_TYPES, INPUT, OUTPUT
from autofuse_nwa_precision.rows import Row

__all__ = ["PROPAGATED", "ROOT", "Flow", "assign_blame"]

ROOT, PROPAGATED = "ROOT", "PROPAGATED"

Node = Tuple[int, str]
"""Number of the graph in the file, and operator name."""

_EPSILON = {
    "float64": 2.0**-52, "complex128": 2.0**-52, "float32": 2.0**-23, "complex64": 2.0**-23, "float16": 2.0**-10,
    "complex32": 2.0**-10, "bfloat16": 2.0**-7, "hifloat8": 2.0**-3, "float8_e4m3fn": 2.0**-3, "float8_e5m2": 2.0**-2,
    "float6_e2m3": 2.0**-3, "float6_e3m2": 2.0**-2, "float4_e1m2": 2.0**-2, "float4_e2m1": 2.0**-1, "float8_e8m0": 1.0,
}  # fmt: skip
"""Spacing of the numbers at 1: an input error below it cannot be told from rounding."""
_INTEGER_EPSILON = 2.0**-23
_MOST_PARENTS = 64


@dataclass
class Flow:
    """The data flow between all operators of a file."""

    operators: Dict[Node, Operator] = field(default_factory=dict)
    sources: Dict[Node, List[Tuple[Node, int]]] = field(default_factory=dict)
    """Node → the outputs it reads."""
    order: List[Node] = field(default_factory=list)
    """Topological; a cycle, which no sound file has, is cut at its first node in the file."""

    @classmethod
    def of(cls, graphs: Sequence[Graph]) -> Flow:
        """The flow of all graphs of a file."""
        flow = cls()
        numbers = {graph.name: number for number, graph in enumerate(graphs)}
        for number, graph in enumerate(graphs):
            for operator in graph.operators:
                node = (number, operator.name)
                flow.operators[node] = operator
                flow.sources[node] = [((number, source.node), source.index) for source in operator.inputs]
        for node, operator in list(flow.operators.items()):
            for name in operator.subgraphs:
                if name in numbers and numbers[name] != node[0]:
                    flow._enter(node, operator, numbers[name], graphs[numbers[name]])
        flow.order = list(_topological(flow.sources))
        return flow

    def fused_parents(self) -> Dict[str, FrozenSet[str]]:
        """Each fused operator, in topological order, with the fused operators whose results reach it first."""
        reaching: Dict[Node, FrozenSet[str]] = {}
        parents: Dict[str, FrozenSet[str]] = {}
        for node in self.order:
            found: Set[str] = set()
            for source, _ in self.sources[node]:
                operator = self.operators.get(source)
                if operator is not None and operator.fused:
                    found.add(source[1])
                else:
                    found.update(reaching.get(source, ()))
            # Beyond this many the edges say nothing to a reader, and the sets would grow with the graph.
            reaching[node] = frozenset(sorted(found)[:_MOST_PARENTS])
            if self.operators[node].fused:
                parents[node[1]] = (parents.get(node[1], frozenset()) | reaching[node]) - {node[1]}
        return parents

    def ancestors_among(self, name: str, wanted: FrozenSet[str]) -> List[str]:
        """The fused operators of a set that the named one depends on, nearest first."""
        if not wanted:
            return []
        waiting = deque(node for node in self.sources if node[1] == name)
        seen: Set[Node] = set(waiting)
        found: List[str] = []
        while waiting:
            for source, _ in self.sources[waiting.popleft()]:
                if source in self.sources and source not in seen:
                    seen.add(source)
                    waiting.append(source)
                    if source[1] in wanted and self.operators[source].fused and source[1] != name:
                        found.append(source[1])
        return found

    def _enter(self, caller: Node, operator: Operator, number: int, graph: Graph) -> None:
        """Joins a subgraph to the operator that calls it: its Data read the caller's inputs, the caller its outputs."""
        for inner in graph.operators:
            node = (number, inner.name)
            place = inner.parent_input if inner.type == "Data" else None
            if place is not None and 0 <= place < len(operator.inputs):
                source: Source = operator.inputs[place]
                self.sources[node] = [*self.sources[node], ((caller[0], source.node), source.index)]
            elif inner.type == "NetOutput":
                self.sources[caller] = [*self.sources[caller], (node, 0)]


def assign_blame(rows: Sequence[Row], flow: Flow) -> None:
    """Sets `blame` and `amplification` of the rows; each step is judged on its own."""
    by_step: Dict[Tuple[str, int], List[Row]] = {}
    for row in rows:
        by_step.setdefault((row.pair.place, row.pair.step), []).append(row)
    for members in by_step.values():
        _Step(members, flow).assign()


class _Step:
    """The rows of one step."""

    def __init__(self, rows: Sequence[Row], flow: Flow) -> None:
        self.flow = flow
        self.outputs: Dict[str, Dict[int, Row]] = {}
        self.inputs: Dict[str, List[Row]] = {}
        for row in rows:
            name = row.pair.fused.name
            if row.pair.side == OUTPUT:
                self.outputs.setdefault(name, {})[row.pair.index] = row
            elif row.pair.side == INPUT:
                self.inputs.setdefault(name, []).append(row)
        self.failing = {name for name, found in self.outputs.items() if any(row.failed for row in found.values())}

    def assign(self) -> None:
        """Blames failing rows, and gives every compared output its amplification."""
        behind = self._behind(self.failing) if self.failing else set()
        errors = self._errors()
        for node in self.flow.order:
            name = node[1]
            if not self.flow.operators[node].fused or name not in self.outputs:
                continue
            arriving = self._arriving(node, errors)
            for row in self.outputs[name].values():
                if row.failed:
                    row.blame = PROPAGATED if node in behind else ROOT
                row.amplification = _amplification(row, arriving)

    def _behind(self, failing: Set[str]) -> Set[Node]:
        """Nodes with a failing fused operator among their ancestors; a node on a cycle is not its own ancestor."""
        behind: Set[Node] = set()
        done: Set[Node] = set()
        for node in self.flow.order:
            for source, _ in self.flow.sources[node]:
                if source in done and (source in behind or self._fails(source, failing)):
                    behind.add(node)
                    break
            done.add(node)
        return behind

    def _fails(self, node: Node, failing: Set[str]) -> bool:
        return node[1] in failing and self.flow.operators[node].fused

    def _errors(self) -> Dict[Node, Optional[float]]:
        """The error an unfused node carries on: the largest known to reach it; constants are equal in both runs."""
        errors: Dict[Node, Optional[float]] = {}
        for node in self.flow.order:
            operator = self.flow.operators[node]
            sources = self.flow.sources[node]
            if operator.type in CONSTANT_TYPES and not sources:
                errors[node] = 0.0
            else:
                errors[node] = _largest(self._error(source, index, errors) for source, index in sources)
        return errors

    def _error(self, node: Node, index: int, errors: Dict[Node, Optional[float]]) -> Optional[float]:
        operator = self.flow.operators.get(node)
        if operator is not None and operator.fused:
            row = self.outputs.get(node[1], {}).get(index)
            return row.rel_l2 if row else None
        return errors.get(node)

    def _arriving(self, node: Node, errors: Dict[Node, Optional[float]]) -> Optional[float]:
        """The largest relative L2 error among the inputs: each as compared, else as known of what it is made from."""
        measured = {row.pair.index: row.rel_l2 for row in self.inputs.get(node[1], ()) if row.rel_l2 is not None}
        return _largest(
            measured[place] if place in measured else self._error(source, index, errors)
            for place, (source, index) in enumerate(self.flow.sources[node])
        )


def _amplification(row: Row, arriving: Optional[float]) -> Optional[float]:
    error = row.rel_l2
    if error is None or error != error or arriving is None or math.isinf(arriving) or row.type is None:
        return None
    return error / max(arriving, _EPSILON.get(row.type.name, _INTEGER_EPSILON))


def _largest(errors: Iterable[Optional[float]]) -> Optional[float]:
    """The largest known error; NaN (a mismatch) counts as infinite."""
    known = [float("inf") if error != error else error for error in errors if error is not None]
    return max(known, default=None)


def _topological(sources: Dict[Node, List[Tuple[Node, int]]]) -> Iterator[Node]:
    """Kahn's algorithm; of the nodes that are ready the first in the file is next: a sorted file keeps its order."""
    places = {node: place for place, node in enumerate(sources)}
    waiting: Dict[Node, int] = {}
    readers: Dict[Node, List[Node]] = {}
    for node, inputs in sources.items():
        known = {source for source, _ in inputs if source in sources}
        waiting[node] = len(known)
        for source in known:
            readers.setdefault(source, []).append(node)
    ready = [(places[node], node) for node, count in waiting.items() if not count]
    given: Set[Node] = set()
    for first in (None, *sources):
        if first in given:
            continue
        if first is not None:
            # Nothing is ready any more, so this one lies on a cycle or behind one, which is cut here.
            ready.append((places[first], first))
        while ready:
            node = heapq.heappop(ready)[1]
            given.add(node)
            yield node
            for reader in readers.get(node, ()):
                waiting[reader] -= 1
                if not waiting[reader] and reader not in given:
                    heapq.heappush(ready, (places[reader], reader))
