"""Hypothesis strategies for runs and layouts: every shape of log that real producers and users make.

Sizes are small; what matters is which things meet: similar ids and names, threads, failures, old and new producers.
"""

from __future__ import annotations

import dataclasses
import json
import random
import re
from typing import Any, List, Optional, Sequence, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from logwriter.files import Layout
from logwriter.model import (
    Call,
    Candidate,
    FinalTiling,
    Graph,
    Group,
    Process,
    Producer,
    Result,
    Run,
    Solution,
    Thread,
)
from logwriter.wrap import OUTER, Bare, Plog, Wrapping

__all__ = ["bare_layouts", "bare_runs", "final_records", "layouts", "operators", "producers", "runs"]

Part = TypeVar("Part")

PIPES = ("AIC_MTE2", "AIC_MAC", "AIV_MTE2", "AIV_MTE3", "AIV_VEC", "PIPE_NONE")
NAMES = ("z0t_size", "z0z1Tb_size", "ub_size", "block_dim", "hbm_size", "b0_size", "q0_size", "Case", "Line", *PIPES)
"""`Case` and `Line` are columns of the summary too."""

_TEMPLATES = ((0, ""), (0, "R"), (1, ""), (1, "R"), (2, ""), (10, ""), (10, "R"), (12, ""))
_OPERATORS = (
    "Add",
    "Add1",
    "Add10",
    "Add.1:0",
    "Add/1/0",
    "Add_1_0",
    "autofuse_pointwise_3_Abs_Add",
    "model/block.0/Conv-BN#2 relu:0",
    "fuse]d[0]",
    "R",
    "算子_融合_1",
    "INFOx",
)
"""Names that begin alike, that share a stem, that hold what names may hold."""

_BARE_WORDS = re.compile(
    r"(?:DEBUG|INFO|WARNING|WARN|ERROR|EVENT|TRACE|OPLOG|[Rr]ank.*|RANK.*|[-0-9:.,/TZ+ ]+|.*\.\w+:\d+)\Z"
)

_INTEGERS = ("0", "1", "64", "4096", "-1", "4294967296", "18446744073709551615")
_FLOATS = (
    *("nan", "-nan", "inf", "-inf", "-12.500000", "0.000000", "-1.25e+02", "+2.5E1"),
    f"{1.7976931348623157e308:.6f}",
)
_PROCESS_FORMS = ("({pid},{name}):", "( {pid}, {name}):", "({pid},):", "({pid},{name}) :", "({pid},a b (c)):")
_BARE_FORMS = (
    "[{operator}] {text}",
    "[{operator}]{text}",
    "[{level}] [{operator}] {text}",
    "[{level}][{operator}]{text}",
)
_mostly = st.integers(0, 3).map(lambda number: number < 3)
_performances = st.integers(0, 2**20).map(lambda seed: _number(random.Random(seed), True))
_names = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters='"\\'),
    min_size=1,
    max_size=12,
)


def operators(bare: bool = False) -> SearchStrategy[str]:
    """Raw operator names; with `bare` only what a line without a plog header can carry."""
    names = st.one_of(st.sampled_from(_OPERATORS), _names)
    return names.filter(_is_bare) if bare else names


def _is_bare(name: str) -> bool:
    return not re.search(r"[\[\]]", name) and not _BARE_WORDS.match(name)


def solutions() -> SearchStrategy[Solution]:
    """What a solved template prints; one draw each, for a run has many."""
    return st.integers(0, 2**20).map(_solution)


def _solution(seed: int) -> Solution:
    chance = random.Random(seed)
    names = chance.sample(NAMES, k=min(seed, chance.randint(0, 6)))
    return Solution(tuple((name, _number(chance, name in PIPES)) for name in names), _number(chance, True))


def _number(chance: random.Random, real: bool) -> str:
    if chance.random() < 0.2:
        return chance.choice(_FLOATS if real else _INTEGERS)
    return f"{chance.randint(0, 10**9) / 1000:.6f}" if real else str(chance.randint(0, 300))


@st.composite
def groups(draw: DrawFn, number: int, shape: Sequence[str], solved: Optional[bool] = None) -> Group:
    """A group; `solved` says whether some template fits (None: either)."""
    templates = draw(st.lists(st.sampled_from(_TEMPLATES), min_size=1, max_size=3, unique=True))
    fits = [draw(_mostly) for _ in templates]
    wanted = draw(_mostly) if solved is None else solved
    if wanted and not any(fits):
        fits[-1] = True
    size = draw(st.integers(0, 4096))
    candidates = tuple(
        Candidate(case, tag, draw(solutions()) if fit and wanted else None, (size + number) % 6 - 2)
        for number, ((case, tag), fit) in enumerate(zip(templates, fits))
    )
    chosen = draw(st.sampled_from([n for n, c in enumerate(candidates) if c.solution])) if wanted else None
    symbols = tuple((name, str(size + number)) for number, name in enumerate(shape))
    return Group(
        number,
        candidates,
        chosen,
        symbols,
        draw(st.one_of(st.none(), st.none(), solutions())) if wanted else None,
        draw(st.sampled_from([1, 1, 1, 2])),
    )


@st.composite
def graphs(draw: DrawFn, number: int) -> Graph:
    """A graph with the results that were tried."""
    shape = draw(st.sampled_from([(), ("s0",), ("s0", "s1"), ("s2", "s10", "s1")]))
    results: List[Result] = []
    for result in sorted(draw(st.sets(st.sampled_from([0, 1, 2, 10]), min_size=1, max_size=2))):
        count = draw(st.sampled_from([1, 1, 2]))
        parts = [draw(groups(0, shape))]
        parts += [draw(groups(other, ("A_org_size", "Rm_org_size"))) for other in range(1, count)]
        results.append(Result(result, tuple(parts), draw(_performances)))
    feasible = [result.id for result in results if result.feasible]
    return Graph(number, tuple(results), draw(st.sampled_from(feasible)) if feasible else None)


@st.composite
def calls(draw: DrawFn, operator: str, graph_ids: Sequence[int]) -> Call:
    """A call with a Start; some lack their End."""
    parts = tuple(draw(graphs(number)) for number in graph_ids)
    call = Call(operator, parts, end=draw(_mostly))
    if call.fails or draw(_mostly):
        return call
    records = tuple(draw(st.lists(final_records(), max_size=2)))
    return _replace(call, finals=records, finals_after_end=draw(st.booleans()))


@st.composite
def threads(draw: DrawFn, tid: int, names: Sequence[str], graph_ids: Sequence[int]) -> Thread:
    """A thread that tiles some of the operators."""
    wanted = draw(st.lists(st.sampled_from(list(names)), min_size=1, max_size=3))
    return Thread(tid, tuple(draw(calls(name, graph_ids)) for name in wanted))


@st.composite
def producers(draw: DrawFn) -> Producer:
    """Any generation of the code generator."""
    return Producer(
        scores=draw(st.booleans()),
        score_map=draw(st.booleans()),
        update_best=draw(st.booleans()),
        hardware=draw(st.sampled_from(["params", "input", ""])),
        performance_tail=draw(st.sampled_from(["", ".", " objective(group_sum(12.5)=1.0 + edge_model(2)=0.5"])),
        case_in_id=draw(st.booleans()),
        starts_name_graph=draw(st.booleans()),
        failure_level=draw(st.sampled_from(["WARNING", "ERROR"])),
        expressions=draw(st.booleans()),
        debug=draw(st.booleans()),
        hash_algorithm=draw(st.sampled_from(["att_mix64_v1", "sha256", None])),
    )


@st.composite
def runs(draw: DrawFn) -> Run:
    """One or two processes of one or two threads, which tile some of the same operators."""
    names = draw(st.lists(operators(), min_size=1, max_size=3, unique=True))
    graph_ids = draw(st.sampled_from([(0,), (0,), (0, 1)]))
    processes = []
    for pid in draw(st.sampled_from([(77,), (77,), (77, 770)])):
        tids = draw(st.sampled_from([(1,), (1, 12), (1, 12, 120)]))
        processes.append(Process(pid, tuple(draw(threads(tid, names, graph_ids)) for tid in tids)))
    return Run(tuple(processes), draw(producers()))


@st.composite
def layouts(draw: DrawFn) -> Layout:
    """Any way that plog lines reach a user."""
    plog = Plog(
        draw(st.integers(0, 2)),
        draw(st.sampled_from(["", "[status:INIT] ", "[EVENT]", "[status:INIT][EVENT] "])),
        draw(st.integers(0, 1)),
        draw(st.integers(0, 1)),
        draw(st.sampled_from(_PROCESS_FORMS)),
    )
    return _layout(draw, plog)


@st.composite
def bare_layouts(draw: DrawFn) -> Layout:
    """Any way that lines without a plog header reach a user."""
    return _layout(draw, Bare(draw(st.sampled_from(_BARE_FORMS))))


def _layout(draw: DrawFn, line: Plog | Bare) -> Layout:
    return Layout(
        Wrapping(line, tuple(draw(st.lists(st.sampled_from(sorted(OUTER)), max_size=2)))),
        draw(st.integers(0, 2**16)),
        draw(st.sampled_from([0.0, 0.1, 0.5])),
        draw(st.sampled_from([0.0, 0.3])),
        draw(st.sampled_from([b"\n", b"\r\n"])),
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.integers(1, 3)),
    )


@st.composite
def bare_runs(draw: DrawFn) -> Run:
    """One thread with Start lines in every call, or in none.

    Without Start and End nothing but a second choice of a group tells calls apart, so there every group has one choice,
    calls of an operator have the same results, and a group that stands alone is not solved again.
    """
    explicit = draw(st.booleans())
    names = draw(st.lists(operators(bare=True), min_size=1, max_size=2, unique=True))
    producer = draw(producers())
    if explicit:
        thread = draw(threads(1, names, (0,)))
        return Run((Process(77, (thread,)),), _replace(producer, failure_level="ERROR"))
    plans = {name: draw(st.lists(st.integers(1, 3), min_size=1, max_size=2)) for name in names}
    wanted = draw(st.lists(st.sampled_from(names), min_size=1, max_size=4))
    return Run((Process(77, (Thread(1, tuple(draw(_silent_call(name, plans[name])) for name in wanted)),)),), producer)


@st.composite
def _silent_call(draw: DrawFn, operator: str, plan: Sequence[int]) -> Call:
    results = []
    for number, count in enumerate(plan):
        parts = [draw(groups(0, ("s0",), solved=True))]
        parts += [draw(groups(other, ("A_org_size",), solved=True)) for other in range(1, count)]
        results.append(Result(number, tuple(parts), draw(_performances)))
    single = len(plan) == 1 and plan[0] == 1
    for number, result in enumerate(results):
        once = (_replace(group, times=1, second=None if single else group.second) for group in result.groups)
        results[number] = _replace(result, groups=tuple(once))
    chosen = draw(st.integers(0, len(plan) - 1))
    return Call(operator, (Graph(0, tuple(results), chosen),), start=False, end=False)


@st.composite
def final_records(draw: DrawFn) -> FinalTiling:
    """A FINAL_TILING record with a payload of any kind and length."""
    payload = st.one_of(
        st.none(),
        st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=80),
        st.dictionaries(st.sampled_from(["tile_m", "q0_size", "b0"]), st.integers(0, 9999)).map(_json),
        st.integers(1, 120).map(lambda n: _json({f"q{i}_size": i for i in range(n)})),
        st.integers(1, 60).map(_struct_text),
    )
    pipes = st.lists(st.sampled_from(["AIV_MTE2", "M2", "M3", "V", "AIV_VEC", "AIC_MAC"]), unique=True, max_size=3)
    return FinalTiling(
        0,
        draw(st.integers(0, 2)),
        draw(st.integers(0, 2)),
        draw(st.sampled_from([0, 1, 10])),
        draw(st.integers(0, 9)),
        draw(st.sampled_from(["", "R"])),
        draw(st.integers(-3, 3)),
        draw(st.sampled_from(["runtime", "pgo"])),
        "default",
        "",
        draw(payload),
        tuple((name, draw(st.sampled_from([None, "120.000000", "0", "1e3"]))) for name in draw(pipes)),
    )


def _struct_text(fields: int) -> str:
    return "AutofuseTilingData{\n" + "".join(f"  .q{number} = {number},\n" for number in range(fields)) + "}"


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _replace(whole: Part, **changes: Any) -> Part:
    return dataclasses.replace(whole, **changes)  # type: ignore[type-var]
