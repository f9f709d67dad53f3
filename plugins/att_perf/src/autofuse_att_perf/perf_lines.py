"""The record parser of `[PERF]` lines: the cost formula of one graph node on one pipe.

`[Op] [PERF][graph0_result1_g0_R0] Store_0[Store]: AIV_MTE3 = (block_cost=156.8 + head_cost=12.09) = 168.89`; the id is
optional, with one term there may be no total. Who wrote a line is read as for all tiling messages.
"""

from __future__ import annotations

import re
from typing import Iterator, List, Optional, Tuple

from autofuse.scan.lines import Line, LineBatch
from autofuse.types import PipeFormula, Position, TemplateId
from autofuse_att_summary.lines import parse_line, strip_ansi

__all__ = ["parse", "parse_formula"]

_MARKER = "[PERF]"
_NUMBER = r"[+-]?(?:(?i:nan|inf(?:inity)?)|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
_ID = re.compile(r"\s*\[graph(\d{1,9})_result(\d{1,9})_g(-?\d{1,9})_([A-Za-z]*)(\d{1,18})\]", re.ASCII)
_HEAD = re.compile(r"\s*([^=]*)\[([^\[\]=]*)\]\s*:\s*(\w+)\s*=")
_TOTAL = re.compile(r"(?:^|\)|\s)=\s*(" + _NUMBER + r")(?:\s+cycles?)?\s*\.?\s*\Z")
_ONLY_NUMBER = re.compile(r"\s*(" + _NUMBER + r")(?:\s+cycles?)?\s*\.?\s*\Z")
_TERM = re.compile(r"\s*(\S.*?)\s*=\s*(" + _NUMBER + r")\s*\Z")


def parse(batch: LineBatch) -> Iterator[PipeFormula]:
    """The formulas of a batch of lines; a line of another form gives none."""
    for line in batch:
        record = _record(line)
        if record is not None:
            yield record


def parse_formula(text: str) -> Optional[Tuple[Tuple[Tuple[str, str], ...], str]]:
    """(terms, total) of what stands behind `PIPE =`; the total is "" when there are several terms and none is given."""
    alone = _ONLY_NUMBER.match(text)
    if alone:
        return (), alone[1]
    total = _TOTAL.search(text)
    inner = (text[: total.start() + (text[total.start()] == ")")] if total else text).strip()
    terms = _terms(inner[1:-1] if inner.startswith("(") and inner.endswith(")") else inner)
    if terms is None:
        return None
    return tuple(terms), total[1] if total else terms[0][1] if len(terms) == 1 else ""


def _terms(text: str) -> Optional[List[Tuple[str, str]]]:
    terms = []
    for part in re.split(r"\s\+\s", text):
        match = _TERM.match(part) if len(part) < 4096 else None
        if match is None:
            return None
        terms.append((match[1], match[2]))
    return terms


def _record(line: Line) -> Optional[PipeFormula]:
    _, mark, body = line.text.partition(_MARKER)
    if not mark:
        return None
    template = None
    identity = _ID.match(body)
    if identity:
        graph, result, group, tag, case = identity.groups()
        template = TemplateId(int(graph), int(result), int(group), int(case), tag)
        body = body[identity.end() :]
    head = _HEAD.match(body)
    if head is None:
        return None
    formula = parse_formula(body[head.end() :])
    if formula is None:
        return None
    who = parse_line(strip_ansi(line.text.encode("utf-8", "surrogateescape")))
    operator = who.operator.decode("utf-8", "replace")
    pid, tid = (None if value < 0 else value for value in (who.pid, who.tid))
    at = Position(line.path, line.number, line.pid if pid is None else pid, tid)
    return PipeFormula(operator, at, head[1].strip(), head[2].strip(), head[3], *formula, template)
