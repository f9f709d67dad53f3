"""Turns the log of the ACME tuner into the records that every command of autofuse knows.

A message is `ACME> VERB OPERATOR`, then a template `graph/result/group/case` (an `R` at its end is the sub-case) or a
schedule result `graph/result`, then what the verb needs.
"""

from __future__ import annotations

import re
from typing import Callable, Dict, Iterator, Match, Optional

from autofuse.scan.lines import Line, LineBatch
from autofuse.types import (
    CandidateScore,
    InputShape,
    InvocationBegin,
    InvocationEnd,
    Objective,
    Position,
    Record,
    ResultPerformance,
    ScheduleChoice,
    TemplateChoice,
    TemplateId,
    TilingFailure,
    TilingValue,
)

from autofuse_acme.prefix import read_prefix

_MARKER = "ACME> "
_MESSAGE = re.compile(
    r"ACME> (?P<verb>[a-z]+) (?P<operator>\S+)"
    r"(?: (?P<graph>\d{1,6})/(?P<result>\d{1,6})(?:/(?P<group>\d{1,6})/(?P<case>\d{1,6})(?P<sub_case>R?))?)?"
    r"(?: (?P<rest>.*))?"
)
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|nan|inf)")
_PAIR = re.compile(r"(\w+)=(\S+)")


def parse(batch: LineBatch) -> Iterator[Record]:
    """The records of the batch, in its order. It keeps no state: batches may be parsed in several threads."""
    for line in batch:
        found = _MESSAGE.match(line.text, line.text.find(_MARKER))
        make = _VERBS.get(found["verb"]) if found else None
        if found and make:
            record = make(found, _position(line))
            if record is not None:
                yield record


def _position(line: Line) -> Position:
    wrapping = read_prefix(line.text[: line.text.find(_MARKER)].encode())
    if wrapping is None:
        return Position(line.path, line.number, line.pid)
    return Position(line.path, line.number, wrapping.pid, wrapping.tid)


def _template(found: Match[str]) -> Optional[TemplateId]:
    if found["case"] is None:
        return None
    graph, result, group, case = (int(found[name]) for name in ("graph", "result", "group", "case"))
    return TemplateId(graph, result, group, case, found["sub_case"])


def _number(found: Match[str]) -> Optional[str]:
    rest = found["rest"] or ""
    return rest if _NUMBER.fullmatch(rest) else None


def _begin(found: Match[str], at: Position) -> Record:
    return InvocationBegin(found["operator"], at)


def _end(found: Match[str], at: Position) -> Record:
    return InvocationEnd(found["operator"], at)


def _fail(found: Match[str], at: Position) -> Record:
    return TilingFailure(found["operator"], at)


def _shape(found: Match[str], at: Position) -> Optional[Record]:
    template = _template(found)
    symbols = tuple((name, value) for name, value in _PAIR.findall(found["rest"] or ""))
    return InputShape(found["operator"], at, template, symbols) if template else None


def _try(found: Match[str], at: Position) -> Optional[Record]:
    template = _template(found)
    pair = _PAIR.fullmatch(found["rest"] or "")
    return TilingValue(found["operator"], at, template, pair[1], pair[2]) if template and pair else None


def _cost(found: Match[str], at: Position) -> Optional[Record]:
    template, value = _template(found), _number(found)
    return Objective(found["operator"], at, template, value) if template and value else None


def _score(found: Match[str], at: Position) -> Optional[Record]:
    template = _template(found)
    whole = re.fullmatch(r"-?\d{1,9}", found["rest"] or "")
    return CandidateScore(found["operator"], at, template, int(whole[0])) if template and whole else None


def _pick(found: Match[str], at: Position) -> Optional[Record]:
    template = _template(found)
    return TemplateChoice(found["operator"], at, template) if template else None


def _perf(found: Match[str], at: Position) -> Optional[Record]:
    value = _number(found)
    if value is None or found["result"] is None:
        return None
    return ResultPerformance(found["operator"], at, int(found["graph"]), int(found["result"]), value)


def _take(found: Match[str], at: Position) -> Optional[Record]:
    if found["result"] is None:
        return None
    return ScheduleChoice(found["operator"], at, int(found["graph"]), int(found["result"]))


_VERBS: Dict[str, Callable[[Match[str], Position], Optional[Record]]] = {
    "begin": _begin,
    "end": _end,
    "fail": _fail,
    "shape": _shape,
    "try": _try,
    "cost": _cost,
    "score": _score,
    "pick": _pick,
    "perf": _perf,
    "take": _take,
}
