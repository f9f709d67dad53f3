"""Runs a tape with the arithmetic of C++ on a 64-bit machine: doubles to the last bit, integers that truncate and wrap.

Division of doubles by zero gives inf or nan. Conversions of doubles that fit no integer are undefined in C++ and give
here what x86-64 gives (the smallest integer).
"""

from __future__ import annotations

import contextlib
import math
import operator
import re
import struct
from dataclasses import dataclass, field
from typing import AbstractSet, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from autofuse_att_perf.errors import FormulaError
from autofuse_att_perf.tape import CType, Op, Tape, Value

__all__ = ["Evaluation", "evaluate", "evaluate_changes", "number", "run", "run_partly"]


@dataclass(frozen=True)
class Evaluation:
    """The values of all slots of a tape; None where a symbol was missing or an integer was divided by zero."""

    slots: Sequence[Optional[Value]]
    inputs: Sequence[Value]
    """The numbers of `tape.symbols`; nan for a missing one."""
    missing: Tuple[str, ...] = ()
    """Symbols that the log has no value for."""
    errors: Mapping[int, FormulaError] = field(default_factory=dict)
    """Slot → why it has no value, where no missing symbol is the reason."""

    @property
    def partly(self) -> bool:
        """Whether some slots have no value."""
        return bool(self.missing or self.errors)


def evaluate(tape: Tape, values: Mapping[str, Value]) -> Evaluation:
    """The value of every slot of `tape`, its symbols taken from `values`.

    What depends on a missing symbol, or divides an integer by zero, has no value, unless it stands in a branch that is
    not taken.
    """
    missing = tuple(symbol for symbol in tape.symbols if symbol not in values)
    inputs = [values.get(symbol, math.nan) for symbol in tape.symbols]
    if not missing and not tape.broken:
        with contextlib.suppress(FormulaError):
            return Evaluation(run(tape, inputs), inputs)
    slots, errors = run_partly(tape, inputs, frozenset(missing))
    return Evaluation(slots, inputs, missing, errors)


def evaluate_changes(
    tape: Tape, evaluation: Evaluation, changes: Sequence[Tuple[int, Value]], slots: Sequence[int]
) -> List[List[Optional[Value]]]:
    """`slots` for each change: symbol number and the value it gets while all others keep theirs."""
    results: List[List[Optional[Value]]] = []
    missing = frozenset(evaluation.missing)
    changed = list(evaluation.inputs)
    for symbol, value in changes:
        changed[symbol] = value
        everything = _run_all(tape, changed, missing, evaluation.partly)
        results.append([everything[slot] for slot in slots])
        changed[symbol] = evaluation.inputs[symbol]
    return results


def _run_all(tape: Tape, inputs: Sequence[Value], missing: AbstractSet[str], partly: bool) -> Sequence[Optional[Value]]:
    if not partly:
        with contextlib.suppress(FormulaError):
            return run(tape, inputs)
    return run_partly(tape, inputs, missing)[0]


def number(text: str) -> Value:
    """A number as logged, exact when it is an integer; ValueError when the text is none."""
    digits = text[1:] if text[:1] in ("-", "+") else text
    whole, point, decimals = digits.partition(".")
    if whole.isdigit() and digits.isascii():
        if decimals.isdigit():
            return float(text)
        if not point and len(digits) <= _MAX_DIGITS:
            return int(text)
    if _FLOAT.match(text):
        return float(text)
    raise ValueError(f"no number: {text[:40]!r}")


_MAX_DIGITS = 40
"""Longer integers are no tiling values, and int() takes long over very long ones."""
# float() also takes underscores, blanks and digits of other scripts.
_FLOAT = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf(?:inity)?|nan)\Z", re.IGNORECASE)


def run(tape: Tape, inputs: Sequence[Value]) -> List[Value]:
    """The value of every slot for the numbers of `tape.symbols`."""
    slots: List[Value] = []
    push = slots.append
    consts = tape.consts
    for op, ctype, a, b, c in zip(tape.ops, tape.types, tape.a, tape.b, tape.c):
        if op <= 3:
            source = consts[a] if op == 0 else inputs[a] if op == 1 else slots[a]
            push(source if op == 2 else convert(source, ctype))
        elif op == 29:
            push(slots[b] if slots[a] else slots[c])
        elif ctype == 6:
            push(_DOUBLE[op](slots[a], slots[b]))
        else:
            try:
                push(_OTHER[op](slots[a], slots[b], ctype))
            except ZeroDivisionError:
                raise FormulaError("integer division by zero", tape.place_of(len(slots))) from None
    return slots


def run_partly(
    tape: Tape, inputs: Sequence[Value], missing: AbstractSet[str]
) -> Tuple[List[Optional[Value]], Dict[int, FormulaError]]:
    """As `run`, with None for what has no value, and the reasons that are no missing symbols.

    A conditional needs the side that it takes, `&&` and `||` need their second operand only as C++ does.
    """
    slots: List[Optional[Value]] = []
    errors: Dict[int, FormulaError] = dict(tape.broken)
    for slot, (op, ctype, a, b, c) in enumerate(zip(tape.ops, tape.types, tape.a, tape.b, tape.c)):
        if op == Op.CONST:
            slots.append(convert(tape.consts[a], ctype))
        elif op == Op.LOAD:
            hidden = slot in errors or tape.symbols[a] in missing
            slots.append(None if hidden else convert(inputs[a], ctype))
        elif op == Op.SELECT:
            slots.append(None if slots[a] is None else slots[b] if slots[a] else slots[c])
        elif op in (Op.AND, Op.OR) and slots[a] is not None:
            slots.append(slots[a] if bool(slots[a]) == (op == Op.OR) else slots[b])
        else:
            try:
                slots.append(_one(op, ctype, slots[a], slots[b] if b >= 0 else 0))
            except ZeroDivisionError:
                slots.append(None)
                errors[slot] = FormulaError("integer division by zero", tape.place_of(slot))
    return slots, errors


def _one(op: int, ctype: int, a: Optional[Value], b: Optional[Value]) -> Optional[Value]:
    if a is None or b is None:
        return None
    if op in (Op.COPY, Op.CAST):
        return a if op == Op.COPY else convert(a, ctype)
    return _DOUBLE[op](a, b) if ctype == CType.F64 else _OTHER[op](a, b, ctype)


def convert(value: Value, ctype: int) -> Value:
    """`static_cast<ctype>(value)`."""
    if ctype == CType.F64:
        return float(value)
    if ctype == CType.F32:
        return _to_float32(float(value))
    if ctype == CType.BOOL:
        return value != 0
    return wrap(int(value) if not isinstance(value, float) else _truncated(value, ctype), ctype)


def _truncated(value: float, ctype: int) -> int:
    bits = 32 if ctype == CType.I32 else 64
    if -(1 << (bits - 1)) - 1 < value < 1 << (bits - 1):
        return int(value)
    if ctype == CType.U64 and 0 <= value < 1 << 64:
        return int(value)
    return -(1 << (bits - 1))


def wrap(value: int, ctype: int) -> int:
    """`value` modulo the width of the integer type."""
    bits = 32 if ctype <= CType.U32 else 64
    value &= (1 << bits) - 1
    if ctype in (CType.I32, CType.I64) and value >> (bits - 1):
        value -= 1 << bits
    return value


def _to_float32(value: float) -> float:
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


# --- doubles ----------------------------------------------------------------------------------------------------------


def divide(a: float, b: float) -> float:
    """IEEE division."""
    try:
        return a / b
    except ZeroDivisionError:
        if a == 0.0 or a != a:
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _pow(a: float, b: float) -> float:
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and b % 2 == 1 else math.inf
    except ValueError:
        if a == 0.0:
            return math.copysign(math.inf, a) if b % 2 == 1 else math.inf
        return math.nan


def _log(a: float) -> float:
    return math.log(a) if a > 0.0 else -math.inf if a == 0.0 else math.nan


def _sqrt(a: float) -> float:
    return math.sqrt(a) if not a < 0.0 else math.nan


def _exp(a: float) -> float:
    try:
        return math.exp(a)
    except OverflowError:
        return math.inf


def _fmod(a: float, b: float) -> float:
    try:
        return math.fmod(a, b)
    except ValueError:
        return math.nan


def _truncate(a: float) -> float:
    # Through an integer, so that -0.5 becomes 0.0; beyond 2^53 a double has no fraction.
    return float(int(a)) if -9e15 < a < 9e15 else a


def is_equal(a: float, b: float) -> bool:
    """IsEqual of generated code."""
    return abs(a - b) < 1e-8


def ceiling(a: float) -> float:
    """Ceiling of generated code: the truncated value where that IsEqual, else one more (negative values too)."""
    whole = _truncate(a)
    return whole if is_equal(whole, a) else whole + 1.0


_Double = Callable[..., float]
_DOUBLE: dict[int, _Double] = {
    Op.NEG: lambda a, _: -a,
    Op.ADD: operator.add,
    Op.SUB: operator.sub,
    Op.MUL: operator.mul,
    Op.DIV: divide,
    Op.MAX: lambda a, b: a if a > b else b,
    Op.MIN: lambda a, b: a if a < b else b,
    Op.STD_MAX: lambda a, b: b if a < b else a,
    Op.STD_MIN: lambda a, b: b if b < a else a,
    Op.ABS: lambda a, _: abs(a),
    Op.LOG: lambda a, _: _log(a),
    Op.POW: _pow,
    Op.SQRT: lambda a, _: _sqrt(a),
    Op.EXP: lambda a, _: _exp(a),
    Op.CEILING: lambda a, _: ceiling(a),
    Op.FLOOR: lambda a, _: _truncate(a),
    Op.FMOD: _fmod,
}


# --- integers, bools and float32 --------------------------------------------------------------------------------------


def _quotient(a: int, b: int) -> int:
    whole = abs(a) // abs(b)
    return -whole if (a < 0) != (b < 0) else whole


_Number = Callable[..., Union[int, float]]
_ARITHMETIC: dict[int, _Number] = {
    **_DOUBLE,
    Op.DIV: _quotient,
    Op.MOD: lambda a, b: a - b * _quotient(a, b),
}


def _arithmetic(op: int) -> Callable[..., Value]:
    def run(a: Value, b: Value, ctype: int) -> Value:
        if ctype == CType.F32:
            return _to_float32(_DOUBLE[op](a, b))
        return wrap(_ARITHMETIC[op](a, b), ctype)  # type: ignore[arg-type]

    return run


_OTHER: dict[int, Callable[..., Value]] = {
    **{op: _arithmetic(op) for op in (*_DOUBLE, Op.MOD)},
    Op.NOT: lambda a, _, __: not a,
    Op.LT: lambda a, b, _: a < b,
    Op.LE: lambda a, b, _: a <= b,
    Op.GT: lambda a, b, _: a > b,
    Op.GE: lambda a, b, _: a >= b,
    Op.EQ: lambda a, b, _: a == b,
    Op.NE: lambda a, b, _: a != b,
    Op.AND: lambda a, b, _: bool(a and b),
    Op.OR: lambda a, b, _: bool(a or b),
    Op.IS_EQUAL: lambda a, b, _: is_equal(a, b),
}
