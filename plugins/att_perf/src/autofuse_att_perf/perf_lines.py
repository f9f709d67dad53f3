"""The record parser of `[PERF]` lines: the cost formula of one graph node on one pipe.

`[Op] [PERF][graph0_result1_g0_R0] Store_0[Store]: AIV_MTE3 = (block_cost=156.8 + head_cost=12.09) = 168.89`; the id is
optional, with one term there may be no total. Who wrote a line is read as for all tiling messages.
"""

from __future__ import annotations

import re
from typing import Callable, Iterator, List, Optional, Sequence, Tuple

from autofuse.scan.lines import Line, LineBatch, Wrapping
from autofuse.types import PipeFormula, Position, TemplateId
from autofuse_att_summary.lines import LINE_LIMIT, parse_line, parse_wrapped, strip_ansi

from autofuse_att_perf.checks import adds_up, logged_number

__all__ = ["PerfParser", "parse_formula", "parser"]

Wrappings = Sequence[Callable[[bytes], Optional[Wrapping]]]
_Formula = Tuple[Tuple[Tuple[str, str], ...], str]

_MARKER = "[PERF]"
_NUMBER = r"[+-]?(?:(?i:nan|inf(?:inity)?)|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
_ID = re.compile(r"\s*\[graph(\d{1,9})_result(\d{1,9})_g(-?\d{1,9})_([A-Za-z]*)(\d{1,18})\]", re.ASCII)
_HEAD = re.compile(r"([^=]*)\[([^\[\]=]*)\]\s*:\s*(\w+)\s*=")
_TOTAL = re.compile(r"(?:\A|\)|\s)=\s*(" + _NUMBER + r")\Z")
_ONLY_NUMBER = re.compile(_NUMBER + r"\Z")
_VALUE = re.compile(r"\s*(" + _NUMBER + r")\s*")
_CYCLES = ("(cycles)", "cycles", "cycle")
# The usual plog line with a name without brackets; everything else is read as the tiling messages are.
_PLOG = re.compile(
    r"\[[A-Z]+\] \w+\((\d{1,18}),[^()\[\]]*\):[-0-9:.]+ \[[^\[\]]*\] ?(\d{1,18}) \w+: ?\[([^\[\]]+)\] ?\Z", re.ASCII
)


class PerfParser:
    """Called with a batch of lines it gives their formulas; a line of another form gives none."""

    def __init__(self, wrappings: Wrappings = ()) -> None:
        self.wrappings = tuple(wrappings)
        self.unread: List[Tuple[str, int]] = []
        """Path and line of what names a node and its pipe, and then holds no terms that can be read."""

    def with_wrappings(self, wrappings: Wrappings) -> PerfParser:
        """A parser that asks these wrappings first what stands before a message."""
        if not wrappings:
            return self
        asked = PerfParser(wrappings)
        asked.unread = self.unread
        return asked

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
        if head is None:
            return None
        formula = parse_formula(body[head.end() :])
        if formula is None or not _complete(formula, text):
            self.unread.append((line.path, line.number))
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


def parse_formula(text: str) -> Optional[_Formula]:
    """(terms, total) of what stands behind `PIPE =`; the total is "" when there are several terms and none is given."""
    text = _without_unit(text)
    if _ONLY_NUMBER.match(text):
        return (), text
    total = _TOTAL.search(text)
    inner = (text[: total.start() + (text[total.start()] == ")")] if total else text).strip()
    if inner.startswith("(") != inner.endswith(")"):
        return None  # cut in the middle
    terms = _terms(inner[1:-1] if inner.startswith("(") else inner)
    if terms is None:
        return None
    return tuple(terms), total[1] if total else terms[0][1] if len(terms) == 1 else ""


def _without_unit(text: str) -> str:
    """`201 cycles.` and `201 (cycles)` are `201`, and so is `201.` (the point that ends a sentence)."""
    text = text.strip().rstrip(".").rstrip()
    for unit in _CYCLES:
        if text.endswith(unit):
            return text[: -len(unit)].rstrip()
    return text


def _terms(text: str) -> Optional[List[Tuple[str, str]]]:
    """`a=1 + b=-2 - c=3`: name and value of each term, the sign of the last as part of its value."""
    terms = []
    sign, at = "+", 0
    while True:
        equals = text.find("=", at)
        number = _VALUE.match(text, equals + 1) if equals >= 0 else None
        name = text[at:equals].strip()
        if number is None or not name:
            return None
        terms.append((name, number[1] if sign == "+" else _negated(number[1])))
        if number.end() == len(text):
            return terms
        sign, at = text[number.end()], number.end() + 1
        if sign not in ("+", "-"):
            return None


def _negated(number: str) -> str:
    return number[1:] if number.startswith("-") else f"-{number.lstrip('+')}"


def _complete(formula: _Formula, line: str) -> bool:
    """Whether the last number is whole: a line at the limit was cut there, and only its total can prove it."""
    if (len(line) < LINE_LIMIT and line.isascii()) or len(line.encode("utf-8", "replace")) < LINE_LIMIT:
        return True
    terms, total = formula
    values = [logged_number(value) for _, value in terms]
    known = [value for value in values if value is not None]
    whole = logged_number(total)
    return whole is not None and len(known) == len(values) > 1 and adds_up(known, whole)
