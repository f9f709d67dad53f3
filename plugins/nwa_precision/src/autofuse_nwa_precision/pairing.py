"""The plan of a comparison: for every output (and input) of every fused operator the two dumps that belong together.

Only names, mappings and files are looked at here; reading and comparing tensors is left to `comparison`.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import Dict, Iterator, List, Optional, Sequence, Set, Tuple

from autofuse_nwa_precision.dumps.index import DumpFile, DumpIndex
from autofuse_nwa_precision.dumps.load import Located, output_count, raw_origin
from autofuse_nwa_precision.dumps.names import mapped
from autofuse_nwa_precision.graphs.model import Graph, Operator, Origin, Source, TensorDesc
from autofuse_nwa_precision.models import ModelPairs
from autofuse_nwa_precision.statuses import AMBIGUOUS_NAME, FILE_NOT_FOUND, NO_MAPPING, SKIPPED_CONST_DATA, RowError
from autofuse_nwa_precision.steps import paired_steps
from autofuse_nwa_precision.tolerance import matches

__all__ = ["CONSTANT_TYPES", "INPUT", "OUTPUT", "Operators", "Pair", "Planner", "Run"]

INPUT, OUTPUT = "input", "output"

CONSTANT_TYPES = frozenset({"Const", "Constant", "Data", "RefData", "Variable", "FileConstant"})
"""Sources that hold the same data in both runs and are not dumped."""

_NO_DESC = TensorDesc()
_UNDESCRIBED = TensorDesc(gap="the graph has no output_desc for it")
_MOST_NAMED = 3


class Operators:
    """The operators of all graphs of one file by name, and which of them share a name in files."""

    def __init__(self, graphs: Sequence[Graph]) -> None:
        self._named: Dict[str, List[Operator]] = {}
        self._mapped: Dict[str, List[Operator]] = {}
        known: Set[object] = set()
        for graph in graphs:
            for operator in graph.operators:
                # A subgraph may be written twice; the same outputs are the same operator.
                if operator.signature not in known:
                    known.add(operator.signature)
                    self._named.setdefault(operator.name, []).append(operator)
                    self._mapped.setdefault(mapped(operator.name), []).append(operator)

    def get(self, name: str) -> Optional[Operator]:
        """The operator of this name; None when there is none."""
        found = self._named.get(name)
        return found[0] if found else None

    def rivals(self, name: str) -> List[str]:
        """Names of other operators whose dump files would have the same name, at most a few of them.

        The type in a file's name does not settle it: a run may dump an operator under another type than its graph has.
        """
        if len(self._named.get(name, ())) > 1:
            return [name]
        others = (op.name for op in self._mapped.get(mapped(name), ()) if op.name != name)
        return sorted(set(itertools.islice(others, _MOST_NAMED)))

    def types_named(self, name: str) -> Set[str]:
        """Types of all operators whose files would have this name, as files spell them."""
        return {mapped(op.type) for op in self._mapped.get(mapped(name), ())}


@dataclass(frozen=True)
class Run:
    """One run: the operators of its graph and its dump files."""

    operators: Operators
    index: DumpIndex
    label: str

    def dumps_of(self, name: str, op_type: str, side: str, index: int) -> List[DumpFile]:
        """The dumps of one tensor; RowError AMBIGUOUS_NAME when another operator's files have the same name."""
        rivals = self.operators.rivals(name)
        if rivals:
            raise RowError(AMBIGUOUS_NAME, self._rivalry(name, rivals))
        found = self.index.dumps_of(name, op_type, side, index) if op_type else []
        return found or self._of_other_type(name, op_type, side, index)

    def _rivalry(self, name: str, rivals: Sequence[str]) -> str:
        if name in rivals:
            return f"in the {self.label} run the graph has several operators of the name {name!r}"
        others = ", ".join(map(repr, rivals))
        return f"files of the {self.label} run named {mapped(name)} may be {others} or {name!r}"

    def _of_other_type(self, name: str, op_type: str, side: str, index: int) -> List[DumpFile]:
        """Files of a type that is not the graph's: taken if it is the only one and no operator of the graph has it."""
        others = self.index.types_of(name) - self.operators.types_named(name) - {mapped(op_type)}
        if not op_type and len(others) > 1:
            raise RowError(
                AMBIGUOUS_NAME,
                f"the {self.label} run has files of {name!r} with the types {', '.join(sorted(others)[:3])}",
            )
        if len(others) != 1:
            return []
        found = self.index.dumps_of(name, others.pop(), side, index)
        # With dots in a file's name, its last part may look like another operator's name.
        return [dump for dump in found if len(dump.name.words) == 2]

    def knows(self, name: str) -> bool:
        """Whether the run has an operator of this name."""
        return self.operators.get(name) is not None or bool(self.index.types_of(name))

    def outputs_of(self, name: str, op_type: str) -> int:
        """How many outputs the dumps of an operator show; 0 where they are not known to be its own."""
        if self.operators.rivals(name):
            return 0
        held = self.index.outputs_of(name, op_type)
        return max((output_count(dump) for dump in held), default=0)


@dataclass(frozen=True)
class Pair:
    """One row to be: a fused tensor and the original one, or why there is nothing to compare."""

    side: str
    fused: Operator
    index: int
    origin_name: str = ""
    origin_index: Optional[int] = None
    origin_type: str = ""
    step: int = 0
    place: str = ""
    """Device, model and data index, where the dump folder has them."""
    open: Optional[Located] = None
    close: Optional[Located] = None
    open_desc: TensorDesc = _NO_DESC
    close_desc: TensorDesc = _NO_DESC
    status: str = ""
    """Status of a row that cannot be compared; "" when it can be tried."""
    reason: str = ""
    graph: str = ""


@dataclass
class Planner:
    """Makes the plan of a comparison from two runs."""

    graphs: Sequence[Graph]
    open: Run
    close: Run
    compare_input: bool = False
    ops: Sequence[str] = ()
    mappings: Dict[str, int] = field(default_factory=lambda: {OUTPUT: 0, INPUT: 0})
    """Tensors with a mapping to the original graph, by side; filled while planning."""

    def __post_init__(self) -> None:
        self._models = ModelPairs(self.open.index.models, self.close.index.models)

    def fused(self) -> Iterator[Tuple[Graph, Operator]]:
        """The fused operators of all graphs that `ops` selects, in graph order, each once."""
        seen: Set[object] = set()
        for graph in self.graphs:
            for operator in graph.operators:
                if not operator.fused or (self.ops and not matches(self.ops, operator.name)):
                    continue
                if operator.signature not in seen:
                    seen.add(operator.signature)
                    yield graph, operator

    def pairs(self) -> Iterator[Pair]:
        """All rows in graph order: of each operator its inputs, if asked for, then its outputs."""
        by_name: Dict[str, Operator] = {}
        known: Optional[Graph] = None
        for graph, operator in self.fused():
            if self.compare_input:
                if graph is not known:
                    known, by_name = graph, {op.name: op for op in graph.operators}
                for index, source in enumerate(operator.inputs):
                    yield from self._input(graph, operator, index, source, by_name.get(source.node))
            for index, desc in enumerate(operator.output_descs or self._undescribed(operator)):
                yield from self._output(graph, operator, index, desc)

    def _undescribed(self, fused: Operator) -> List[TensorDesc]:
        """Stand-ins for the outputs that its dumps show; one where there is none, so that the operator has a row."""
        return [_UNDESCRIBED] * max(1, self.open.outputs_of(fused.name, fused.type))

    def _output(self, graph: Graph, fused: Operator, index: int, desc: TensorDesc) -> Iterator[Pair]:
        origin, gap = desc.origin, desc.gap
        if origin is None:
            origin = self._origin_in_dump(fused, index)
        base = Pair(OUTPUT, fused, index, open_desc=desc, graph=graph.name)
        if origin is None:
            yield self._skipped(base, RowError(NO_MAPPING, gap))
        else:
            yield from self._mapped(base, desc, origin)

    def _input(
        self, graph: Graph, fused: Operator, index: int, source: Source, producer: Optional[Operator]
    ) -> Iterator[Pair]:
        desc = _at(fused.input_descs, index)
        base = Pair(INPUT, fused, index, source.node, source.index, open_desc=desc, graph=graph.name)
        if producer is not None and producer.type in CONSTANT_TYPES:
            yield self._skipped(base, RowError(SKIPPED_CONST_DATA, f"its source is a {producer.type}"))
            return
        if producer is None or (not producer.fused and self.close.knows(source.node)):
            yield from self._mapped(base, desc, Origin((source.node,), source.index))
            return
        made = _at(producer.output_descs, source.index)
        origin = made.origin or (self._origin_in_dump(producer, source.index) if producer.fused else None)
        if origin is None and producer.fused:
            gap = made.gap or "the graph has no such output"
            yield self._skipped(base, RowError(NO_MAPPING, f"of its fused source: {gap}"))
            return
        yield from self._mapped(base, desc, origin or Origin((source.node,), source.index))

    def _mapped(self, base: Pair, desc: TensorDesc, origin: Origin) -> Iterator[Pair]:
        """The rows of one fused tensor with a known origin: one for each step."""
        self.mappings[base.side] += 1
        name, operator = self._original(origin)
        their_desc = _with_origin(_at(operator.output_descs, origin.index) if operator else _NO_DESC, origin)
        found = replace(
            base,
            origin_name=name,
            origin_index=origin.index,
            origin_type=operator.type if operator else "",
            close_desc=their_desc,
        )
        try:
            ours = self.open.dumps_of(base.fused.name, base.fused.type, base.side, base.index)
            theirs = self.close.dumps_of(name, found.origin_type, OUTPUT, origin.index)
        except RowError as error:
            yield _skipped(found, error)
            return
        if not ours and not theirs:
            yield _skipped(found, RowError(FILE_NOT_FOUND, "neither run has a dump of it"))
        for step in paired_steps(ours, theirs, self._models):
            yield replace(
                found,
                step=step.number,
                place=_place(step.open or step.close),
                open=Located(step.open, base.side, base.index, desc) if step.open else None,
                close=Located(step.close, OUTPUT, origin.index, their_desc) if step.close else None,
                status="" if step.open and step.close else FILE_NOT_FOUND,
                reason=step.gap or "; ".join(filter(None, (step.note, _index_note(step.open, step.close)))),
            )

    def _skipped(self, pair: Pair, error: RowError) -> Pair:
        """A row with nothing to compare with, and the fused tensor's first dump if it has one."""
        try:
            dumps = self.open.dumps_of(pair.fused.name, pair.fused.type, pair.side, pair.index)
        except RowError:
            dumps = []
        located = Located(dumps[0], pair.side, pair.index, pair.open_desc) if dumps else None
        return _skipped(replace(pair, open=located), error)

    def _original(self, origin: Origin) -> Tuple[str, Optional[Operator]]:
        """The original operator: the meaning of the name that the close graph, else its dump, knows."""
        for name in origin.names:
            operator = self.close.operators.get(name)
            if operator is not None:
                return name, operator
        known = (name for name in origin.names if self.close.index.types_of(name))
        return next(known, origin.name), None

    def _origin_in_dump(self, fused: Operator, index: int) -> Optional[Origin]:
        """The mapping that a raw dump of the fused operator carries itself."""
        try:
            dumps = self.open.dumps_of(fused.name, fused.type, OUTPUT, index)
            return raw_origin(Located(dumps[0], OUTPUT, index)) if dumps else None
        except RowError:
            # What is wrong with the file is told by its own row, if it gets one.
            return None


def _skipped(pair: Pair, error: RowError) -> Pair:
    return replace(pair, status=error.status, reason=error.reason)


def _at(descs: Sequence[TensorDesc], index: int) -> TensorDesc:
    return descs[index] if 0 <= index < len(descs) else _NO_DESC


def _with_origin(desc: TensorDesc, origin: Origin) -> TensorDesc:
    """What the mapping knows of the original tensor stands in for what its graph does not say."""
    return TensorDesc(
        desc.dtype or origin.dtype,
        desc.layout,
        desc.shape,
        desc.origin_shape,
        desc.origin_layout or origin.layout,
    )


def _place(dump: Optional[DumpFile]) -> str:
    if dump is None:
        return ""
    return "/".join(part for part in dump.place[:4] if part)


def _index_note(a: Optional[DumpFile], b: Optional[DumpFile]) -> str:
    """Runs that share no data index are compared all the same, but never without a word."""
    if a is None or b is None or a.place.data_index == b.place.data_index:
        return ""
    if not a.place.data_index or not b.place.data_index:
        return ""
    return f"data index {a.place.data_index} of the open run against {b.place.data_index} of the close run"
