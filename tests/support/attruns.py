"""Short logs with chosen numbers, made by the log writer, for tests of the commands that read tiling logs."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, Optional, Sequence, Tuple

from logwriter.files import Layout, write
from logwriter.model import (
    Call,
    Candidate,
    Compilation,
    FinalTiling,
    FinalTilingSummary,
    Graph,
    Group,
    Process,
    Producer,
    Result,
    Run,
    Solution,
    Thread,
)

__all__ = ["call", "candidate", "log", "save", "shape"]

Template = Tuple[int, str]


def candidate(
    case: int = 0, sub_case: str = "", objective: Optional[str] = "100.000000", score: int = 0, **values: str
) -> Candidate:
    """A solved template; its values in the order given."""
    return Candidate(case, sub_case, Solution(tuple(values.items()), objective), score)


def call(
    operator: str,
    *candidates: Candidate,
    shape: Sequence[Tuple[str, str]] = (("s0", "1024"),),
    performance: Optional[str] = None,
    chosen: Optional[int] = 0,
    finals: Sequence[FinalTiling] = (),
    summaries: Sequence[FinalTilingSummary] = (),
    **options: bool,
) -> Call:
    """One call with one group in result 0. With a performance there is a result 1, so that results are compared."""
    results = [Result(0, (Group(0, candidates or (candidate(),), chosen, tuple(shape)),), performance)]
    if performance is not None:
        results.append(Result(1, (Group(0, (candidate(7, objective="900.000000"),), 0, tuple(shape)),), "900.000000"))
    graph = Graph(0, tuple(results), None if chosen is None else 0)
    return Call(operator, (graph,), finals=tuple(finals), summaries=tuple(summaries), **options)


def log(
    *calls: Call,
    pid: int = 77,
    tid: int = 12,
    compilations: Sequence[Compilation] = (),
    producer: Producer = Producer(),  # noqa: B008 (frozen)
    layout: Layout = Layout(),  # noqa: B008 (frozen)
) -> bytes:
    """The plog of one thread that does this, compilations first."""
    thread = Thread(tid, tuple(calls), tuple(compilations))
    return b"".join(file.data for file in write(Run((Process(pid, (thread,)),), producer), layout))


def save(path: Path, *calls: Call, **options: object) -> Path:
    """Writes `log(...)` to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(log(*calls, **options))  # type: ignore[arg-type]
    return path


def shape(**symbols: int) -> Tuple[Tuple[str, str], ...]:
    """Symbols of an input shape."""
    named: Dict[str, str] = {name: str(value) for name, value in symbols.items()}
    return tuple(named.items())
