"""Which way each condition of a formula went, in words and with the numbers that decided it."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence

from autofuse_att_perf.tape import Op, Tape, Value

__all__ = ["Branch", "branches", "plain_number"]


@dataclass(frozen=True)
class Branch:
    """One `TernaryOp(condition, a, b)`."""

    variable: str
    """The variable that the result goes into; "" for a returned expression."""
    condition: str
    """The condition as C++ text, named conditions spelled out."""
    taken: Optional[bool]
    """None when a symbol is missing."""
    words: str
    value: Optional[float]
    other: Optional[float]
    """What the side that was not taken would have given."""
    place: str


_COMPARISONS: Dict[int, str] = {Op.LT: "<", Op.LE: "<=", Op.GT: ">", Op.GE: ">=", Op.EQ: "==", Op.NE: "!="}
_LOGIC = {Op.AND: "and", Op.OR: "or"}
_MAX_CONDITIONS = 24
"""Conditions that one is spelled out into."""
_TEXT = 200
"""Characters of an expression that has no name."""


def branches(tape: Tape, values: Sequence[Optional[Value]]) -> List[Branch]:
    """Every condition of `tape`, in the order of the source; `values` are those of all slots."""
    copies = sorted(tape.slot_names)
    return [_branch(tape, slot, values, copies) for slot, op in enumerate(tape.ops) if op == Op.SELECT]


def plain_number(value: Optional[Value]) -> str:
    """A number as people write it: whole ones without a point, others with at most six decimals."""
    if value is None:
        return "?"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) or abs(value) >= 1e15 or value != value:
        return repr(value)
    text = f"{value:.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _branch(tape: Tape, slot: int, values: Sequence[Optional[Value]], copies: Sequence[int]) -> Branch:
    condition, yes, no = tape.a[slot], tape.b[slot], tape.c[slot]
    index = bisect_left(copies, slot)
    variable = tape.slot_names[copies[index]] if index < len(copies) else ""
    text = _spell(tape, condition, None)
    place = tape.place_of(slot)
    decided = values[condition]
    if decided is None:
        return Branch(variable, text, None, f"{text}: cannot be decided", None, None, place)
    taken, left = (yes, no) if decided else (no, yes)
    words = (
        f"{_spell(tape, condition, values)} is {'true' if decided else 'false'}: "
        f"takes {_side(tape, taken, values)} instead of {_side(tape, left, values)}"
    )
    return Branch(variable, text, bool(decided), words, _float(values[taken]), _float(values[left]), place)


def _float(value: Optional[Value]) -> Optional[float]:
    return None if value is None else float(value)


def _side(tape: Tape, slot: int, values: Sequence[Optional[Value]]) -> str:
    number = plain_number(values[slot])
    text = _name_or_text(tape, slot)
    return number if _is_literal(tape, slot) else f"{text} = {number}"


def _spell(tape: Tape, slot: int, values: Optional[Sequence[Optional[Value]]]) -> str:
    """The condition at `slot`; with `values` every side that is no literal is followed by its number."""
    return _Speller(tape, values).spell(slot)


class _Speller:
    """Spells out a condition and the conditions that it names, a bounded number of them."""

    def __init__(self, tape: Tape, values: Optional[Sequence[Optional[Value]]]) -> None:
        self.tape = tape
        self.values = values
        self.left = _MAX_CONDITIONS

    def spell(self, slot: int, inner: bool = False) -> str:
        """The text; one within another has parentheses where it needs them."""
        tape = self.tape
        while tape.ops[slot] in (Op.COPY, Op.CAST):
            slot = tape.a[slot]
        op = tape.ops[slot]
        self.left -= 1
        if self.left < 0:
            return tape.text_of(slot, _TEXT)
        if op in _LOGIC:
            sides = [self.spell(operand, True) for operand in (tape.a[slot], tape.b[slot])]
            joined = f" {_LOGIC[Op(op)]} ".join(sides)
            return f"({joined})" if inner else joined
        if op == Op.NOT:
            return f"not ({self.spell(tape.a[slot])})"
        word = _COMPARISONS.get(op, "equals" if op == Op.IS_EQUAL else "")
        if word:
            left, right = (_operand(tape, operand, self.values) for operand in (tape.a[slot], tape.b[slot]))
            return f"{left} {word} {right}"
        return tape.text_of(slot, _TEXT)


def _operand(tape: Tape, slot: int, values: Optional[Sequence[Optional[Value]]]) -> str:
    text = _name_or_text(tape, slot)
    if values is None or _is_literal(tape, slot):
        return text
    return f"{text} ({plain_number(values[slot])})"


def _name_or_text(tape: Tape, slot: int) -> str:
    while tape.ops[slot] == Op.CAST:
        slot = tape.a[slot]
    return tape.slot_names.get(slot) or _symbol(tape, slot) or tape.text_of(slot, _TEXT)


def _symbol(tape: Tape, slot: int) -> str:
    """A parameter has no text of its own."""
    return tape.symbols[tape.a[slot]] if tape.ops[slot] == Op.LOAD else ""


def _is_literal(tape: Tape, slot: int) -> bool:
    while tape.ops[slot] == Op.CAST:
        slot = tape.a[slot]
    return tape.ops[slot] == Op.CONST
