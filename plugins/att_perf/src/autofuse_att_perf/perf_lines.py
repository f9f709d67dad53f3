"""The record parser of `[PERF]` lines: the cost formula of one graph node on one pipe.

`[Op] [PERF][graph0_result1_g0_R0] Store_0[Store]: AIV_MTE3 = (block_cost=156.8 + head_cost=12.09) = 168.89`; the id is
optional, with one term there may be no total. Who wrote a line is read as for all tiling messages.
"""

from __future__ import annotations

import re
from typing import Callable, Iterator, List, Optional, Sequence, Tuple

from autofuse.scan.lines import Line, LineBatch, Wrapping
from autofuse.types import PipeFormula, Position, TemplateId
from autofuse_att_summary.lines import parse_line, parse_wrapped, strip_ansi

__all__ = ["PerfParser", "parse_formula", "parser"]

Wrappings = Sequence[Callable[[bytes], Optional[Wrapping]]]

_MARKER = "[PERF]"
_NUMBER = r"[+-]?(?:(?i:nan|inf(?:inity)?)|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
_ID = re.compile(r"\s*\[graph(\d{1,9})_result(\d{1,9})_g(-?\d{1,9})_([A-Za-z]*)(\d{1,18})\]", re.ASCII)
_HEAD = re.compile(r"([^=]*)\[([^\[\]=]*)\]\s*:\s*(\w+)\s*=")
_TOTAL = re.compile(r"(?:\A|\)|\s)=\s*(" + _NUMBER + r")\Z")
_ONLY_NUMBER = re.compile(_NUMBER + r"\Z")
_CYCLES = ("cycles", "cycle")
# The usual plog line with a name without brackets; everything else is read as the tiling messages are.
_PLOG = re.compile(
    r"\[[A-Z]+\] \w+\((\d{1,18}),[^()\[\]]*\):[-0-9:.]+ \[[^\[\]]*\] ?(\d{1,18}) \w+: ?\[([^\[\]]+)\] ?\Z", re.ASCII
)


class PerfParser:
    """Called with a batch of lines it gives their formulas; a line of another form gives none."""

    def __init__(self, wrappings: Wrappings = ()) -> None:
        self.wrappings = tuple(wrappings)

    def with_wrappings(self, wrappings: Wrappings) -> PerfParser:
        """A parser that asks these wrappings first what stands before a message."""
        return PerfParser(wrappings) if wrappings else self

    def __call__(self, batch: LineBatch) -> Iterator[PipeFormula]:
        """The formulas, in the order of the lines."""
        for line in batch:
            text = line.text
            if "\x1b" in text:
                text = strip_ansi(text.encode("utf-8", "surrogateescape")).decode("utf-8", "replace")
            found = self._formula(line, text)
            if found is not None:
                yield found

    def _formula(self, line: Line, text: str) -> Optional[PipeFormula]:
        before, mark, body = text.partition(_MARKER)
        if not mark:
            return None
        template = None
        identity = _ID.match(body)
        if identity:
            graph, result, group, tag, case = identity.groups()
            template = TemplateId(int(graph), int(result), int(group), int(case), tag)
            body = body[identity.end() :]
        head = _HEAD.match(body)
        formula = parse_formula(body[head.end() :]) if head else None
        if head is None or formula is None:
            return None
        operator, pid, tid = self._writer(text, before)
        at = Position(line.path, line.number, line.pid if pid is None else pid, tid)
        return PipeFormula(operator, at, head[1].strip(), head[2].strip(), head[3], *formula, template)

    def _writer(self, text: str, before: str) -> Tuple[str, Optional[int], Optional[int]]:
        """Operator, pid and tid of a line; `before` is what stands before the marker."""
        usual = None if self.wrappings else _PLOG.match(before)
        if usual:
            return usual[3], int(usual[1]), int(usual[2])
        raw = text.encode("utf-8", "surrogateescape")
        who = parse_wrapped(raw, self.wrappings) if self.wrappings else parse_line(raw)
        pid, tid = (None if value < 0 else value for value in (who.pid, who.tid))
        return who.operator.decode("utf-8", "replace"), pid, tid


parser = PerfParser()


def parse_formula(text: str) -> Optional[Tuple[Tuple[Tuple[str, str], ...], str]]:
    """(terms, total) of what stands behind `PIPE =`; the total is "" when there are several terms and none is given."""
    text = _without_unit(text)
    if _ONLY_NUMBER.match(text):
        return (), text
    total = _TOTAL.search(text)
    inner = (text[: total.start() + (text[total.start()] == ")")] if total else text).strip()
    terms = _terms(inner[1:-1] if inner.startswith("(") and inner.endswith(")") else inner)
    if terms is None:
        return None
    return tuple(terms), total[1] if total else terms[0][1] if len(terms) == 1 else ""


def _without_unit(text: str) -> str:
    """`201 cycles.` is `201`, and so is `201.` (the point that ends a sentence)."""
    text = text.strip().rstrip(".").rstrip()
    for unit in _CYCLES:
        if text.endswith(unit):
            return text[: -len(unit)].rstrip()
    return text


def _terms(text: str) -> Optional[List[Tuple[str, str]]]:
    terms = []
    for part in text.split(" + "):
        name, equals, value = part.rpartition("=")
        name, value = name.strip(), value.strip()
        if not equals or not name or not _ONLY_NUMBER.match(value):
            return None
        terms.append((name, value))
    return terms
