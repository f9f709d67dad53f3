"""Small runs written out by hand, for tests that show one thing at a time."""

from __future__ import annotations

from typing import Optional, Sequence, Tuple

from logwriter.model import Call, Candidate, Graph, Group, Process, Producer, Result, Run, Solution, Thread

__all__ = ["call", "candidate", "group", "result", "run_of", "solution", "tricky_run"]


def solution(seed: int, objective: Optional[str] = None, **values: str) -> Solution:
    """Numbers that tell their seed; no two seeds share one, and many begin alike."""
    printed = {"q0_size": str(seed), "ub_size": str(seed * 100 + 1), "block_dim": str(seed % 48 + 1)}
    pipes = {"AIV_MTE2": f"{seed * 10}.100000", "AIV_MTE3": f"{seed}.120000", "AIV_VEC": f"{seed}.123456"}
    return Solution(tuple({**printed, **pipes, **values}.items()), objective or f"{seed * 10 + 5}.500000")


def candidate(case: int, sub_case: str = "", seed: int = 1, score: int = 0) -> Candidate:
    """A solved template."""
    return Candidate(case, sub_case, solution(seed), score)


def group(number: int, candidates: Sequence[Candidate], chosen: Optional[int] = 0, **symbols: str) -> Group:
    """A group with the symbols it was given."""
    return Group(number, tuple(candidates), chosen, tuple(symbols.items()))


def result(number: int, groups: Sequence[Group], performance: Optional[str] = None) -> Result:
    """A result; its performance tells its number."""
    return Result(number, tuple(groups), performance or f"{number}0.250000")


def call(operator: str, results: Sequence[Result], chosen: Optional[int] = 0, end: bool = True) -> Call:
    """A call with one graph."""
    return Call(operator, (Graph(0, tuple(results), chosen),), end=end)


def run_of(*calls: Call, tid: int = 12, pid: int = 77, producer: Producer = Producer()) -> Run:  # noqa: B008 (frozen)
    """A run of one thread."""
    return Run((Process(pid, (Thread(tid, tuple(calls)),)),), producer)


def tricky_run() -> Run:
    """Ids and numbers that begin alike everywhere: cases 1, 10 and R1, groups 1 and 10, results 1 and 10."""
    first = [candidate(10, seed=1), candidate(1, seed=12), candidate(1, "R", seed=123)]
    groups: Tuple[Group, ...] = (
        group(0, first, 2, s0="1", s1="12"),
        group(1, [candidate(1, seed=12345), candidate(10, seed=2)], 1, A_org_size="14"),
        group(10, [candidate(1, seed=23), candidate(10, "R", seed=234)], 0, A_org_size="141"),
    )
    results = (
        result(1, groups, "1.250000"),
        result(10, [group(0, [candidate(1, seed=2345)], s0="1", s1="12")], "12.500000"),
    )
    two = Call("Add", (Graph(0, results, 10), Graph(1, (result(0, [group(0, [candidate(0, seed=3)], s0="1")]),), 0)))
    one = call("Add1", [result(0, [group(0, [candidate(1, seed=34), candidate(10, seed=345)], 1, s10="1", s1="10")])])
    return run_of(two, one)
