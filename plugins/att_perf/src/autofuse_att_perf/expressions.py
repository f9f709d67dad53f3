"""Parses one C++ expression of generated code onto a tape: operator precedence with explicit stacks, so neither a sum
of thousands of terms nor deep nesting meets a recursion limit. Statements are left to `autofuse_att_perf.bodies`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Dict, List, NamedTuple, Optional, Protocol, Sequence, Tuple

from autofuse_att_perf.builder import CAST_TYPES, FUNCTIONS, TapeBuilder
from autofuse_att_perf.errors import FormulaError
from autofuse_att_perf.lexer import NAME, NUMBER, Tokens
from autofuse_att_perf.tape import NO_SLOT, CType, Value

__all__ = ["Calls", "ExpressionParser", "Names"]


class Calls(Protocol):
    """What a call of a function outside FUNCTIONS means."""

    def call(self, name: str, args: Sequence[Operand], span: Tuple[int, int]) -> Optional[int]:
        """The slot of the result, NO_SLOT when the call has no number to give, None when the name is unknown."""


class Operand(NamedTuple):
    """A value on the parser's stack: its slot (NO_SLOT for objects such as the tiling data) and its text span."""

    slot: int
    start: int
    end: int


@dataclass
class Names:
    """The variables in sight: numbers by slot, and the objects that are no numbers."""

    slots: Dict[str, int] = field(default_factory=dict)
    objects: Dict[str, str] = field(default_factory=dict)
    """Object → type, such as `tiling_data`."""
    free: Dict[str, List[int]] = field(default_factory=dict)
    """Name that nothing declares → the slots that ask the log for its value."""
    broken: Dict[str, FormulaError] = field(default_factory=dict)
    """Variable whose expression cannot be read → why."""


@dataclass(frozen=True)
class _Pending:
    """What waits on the operator stack for its right-hand side, or for its closing parenthesis."""

    kind: str
    """`unary`, `binary`, `cast`, `(` or `call`."""
    text: str
    binds: int
    start: int
    base: int = 0
    """Operands below a call."""
    convert: str = ""
    """T of a call `f<T>(…)`: its arguments become T."""


_BINDS = {"||": 1, "&&": 2, "==": 3, "!=": 3, "<": 4, "<=": 4, ">": 4, ">=": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}
_UNARY_BINDS = 7
_BOOLS = {"true": True, "True": True, "false": False, "False": False}
_GETTER = re.compile(r"get_(\w+)\Z")


class ExpressionParser:
    """Parses expressions from `tokens` at `at`, which moves on; every value lands on the builder's tape."""

    def __init__(self, build: TapeBuilder, tokens: Tokens, names: Names, calls: Optional[Calls] = None) -> None:
        self.build = build
        self.kinds, self.texts, self.starts = tokens
        self.at = 0
        self.names = names
        self.calls = calls
        self._operands: List[Operand] = []
        self._pending: List[_Pending] = []

    def fail(self, what: str, at: Optional[int] = None) -> FormulaError:
        """The error for the token at `at` (the current one by default)."""
        return FormulaError(what, self.build.source.place(self.starts[self.at if at is None else at]))

    def parse(self) -> int:
        """The slot of the expression that begins here; stops before the first token that cannot continue it."""
        operand = self.parse_operand()
        return self.number(operand)

    def parse_operand(self) -> Operand:
        """As `parse`, and objects are allowed (an argument, one side of `pipe_type == …`)."""
        self._operands, self._pending = [], []
        while True:
            while not self._operand():
                pass
            if not self._after_operand():
                break
        self._reduce(0)
        if self._pending:
            raise self.fail("a parenthesis is not closed")
        return self._operands.pop()

    # --- where an operand is expected --------------------------------------------------------------------------------

    def _operand(self) -> bool:
        """Reads one token group; True when an operand is complete."""
        kind, text, start = self.kinds[self.at], self.texts[self.at], self.starts[self.at]
        if kind == NAME:
            return self._name(text, start)
        if kind == NUMBER:
            value, ctype = _literal(text, self)
            span = (start, start + len(text))
            self._push(self.build.const(value, ctype, span), *span)
            return True
        if text == "(":
            return self._open(start)
        if text in ("-", "+", "!"):
            self.at += 1
            self._pending.append(_Pending("unary", text, _UNARY_BINDS, start))
            return False
        raise self.fail(f"an operand is missing before {text!r}" if text else "the expression ends too early")

    def _open(self, start: int) -> bool:
        texts = self.texts
        if texts[self.at + 1] in CAST_TYPES and texts[self.at + 2] == ")":
            self._pending.append(_Pending("cast", texts[self.at + 1], _UNARY_BINDS, start))
            self.at += 3
        else:
            self._pending.append(_Pending("(", "(", 0, start))
            self.at += 1
        return False

    def _push(self, slot: int, start: int, end: int) -> None:
        self._operands.append(Operand(slot, start, end))
        self.at += 1

    def _name(self, text: str, start: int) -> bool:
        if text == "static_cast":
            return self._call(self._template_type(), start)
        name = self._qualified()
        if self.texts[self.at] == "<" and self.texts[self.at + 1] in CAST_TYPES and self.texts[self.at + 2] == ">":
            self.at -= 1
            return self._call(name, start, self._template_type())
        following = self.texts[self.at]
        if following == "(":
            return self._call(name, start)
        if following in (".", "->") or (following == "[" and name in self.names.objects):
            return self._member_chain(name, start)
        end = self.starts[self.at - 1] + len(self.texts[self.at - 1])
        self._operands.append(Operand(self._resolve(name, start, end), start, end))
        return True

    def _qualified(self) -> str:
        """A name with its scopes; at most `std::` and enumerations occur."""
        parts = [self.texts[self.at]]
        self.at += 1
        while self.texts[self.at] == "::" and self.kinds[self.at + 1] == NAME:
            parts.append(self.texts[self.at + 1])
            self.at += 2
        return "::".join(parts)

    def _resolve(self, name: str, start: int, end: int) -> int:
        slot = self.names.slots.get(name)
        if slot is not None:
            return slot
        if name in self.names.broken:
            raise self.names.broken[name]
        if name in _BOOLS:
            return self.build.const(_BOOLS[name], CType.BOOL, (start, end))
        if name in self.names.objects or "::" in name:
            return NO_SLOT
        slot = self.build.load(name, CType.F64, (start, end))
        self.names.free.setdefault(name, []).append(slot)
        return slot

    def _template_type(self) -> str:
        """T of `name<T>(`, read from the name on."""
        opening, ctype, closing, parenthesis = self.texts[self.at + 1 : self.at + 5]
        if (opening, closing, parenthesis) != ("<", ">", "("):
            raise self.fail(f"{self.texts[self.at]}<TYPE>(…) is expected")
        if ctype not in CAST_TYPES:
            raise self.fail(f"unknown type {ctype!r}", self.at + 2)
        self.at += 4
        return ctype

    def _call(self, name: str, start: int, convert: str = "") -> bool:
        self._pending.append(_Pending("call", name, 0, start, len(self._operands), convert))
        self.at += 1
        if self.texts[self.at] == ")":
            self._close_call(self._pending.pop())
            return True
        return False

    def _member_chain(self, name: str, start: int) -> bool:
        """`tiling_data.get_x()`, `tiling_data->x`, `input_.input_vars[0]->value`: names a value of the log."""
        chain_start = self.at
        member = name
        while self.texts[self.at] in (".", "->", "["):
            if self.texts[self.at] == "[":
                self._skip_index()
            else:
                member = self.texts[self.at + 1]
                if self.kinds[self.at + 1] != NAME:
                    raise self.fail("a member name is expected", self.at + 1)
                self.at += 2
            if self.texts[self.at] == "(" and self.texts[self.at + 1] == ")":
                self.at += 2
        end = self.starts[self.at - 1] + len(self.texts[self.at - 1])
        indexed = "[" in self.texts[chain_start : self.at]
        getter = _GETTER.match(member)
        symbol = getter[1] if getter else member
        # An indexed member such as input_vars[0]->value says nothing by itself: the variable that takes it names it.
        spelled = "".join(self.texts[chain_start : self.at])
        slot = self.build.load(f"{name}{spelled}" if indexed else symbol, CType.F64, (start, end))
        self._operands.append(Operand(slot, start, end))
        return True

    def _skip_index(self) -> None:
        if self.texts[self.at + 2] != "]":
            raise self.fail("an index of one number or name is expected", self.at + 1)
        self.at += 3

    # --- where an operator may follow --------------------------------------------------------------------------------

    def _after_operand(self) -> bool:
        """Reads what follows an operand; True when the next thing is an operand again."""
        while True:
            text = self.texts[self.at]
            binds = _BINDS.get(text)
            if binds is not None:
                self._reduce(binds)
                self._pending.append(_Pending("binary", text, binds, self.starts[self.at]))
                self.at += 1
                return True
            if text == ",":
                return self._comma()
            if text != ")" or not self._close():
                return False

    def _comma(self) -> bool:
        self._reduce(0)
        if not self._pending or self._pending[-1].kind != "call":
            return False
        self.at += 1
        return True

    def _close(self) -> bool:
        """Takes a closing parenthesis; False when it closes something outside this expression."""
        self._reduce(0)
        if not self._pending:
            return False
        opened = self._pending.pop()
        if opened.kind == "call":
            self._close_call(opened)
            return True
        inner = self._operands.pop()
        self._push(inner.slot, opened.start, self.starts[self.at] + 1)
        return True

    def _close_call(self, opened: _Pending) -> None:
        args = self._operands[opened.base :]
        del self._operands[opened.base :]
        end = self.starts[self.at] + 1
        self._push(self._call_slot(opened, args, (opened.start, end)), opened.start, end)

    def _call_slot(self, opened: _Pending, args: List[Operand], span: Tuple[int, int]) -> int:
        name = opened.text
        cast = CAST_TYPES.get(name)
        known = FUNCTIONS.get(name)
        if cast is None and known is None:
            return self._outside(name, args, span)
        wanted = 1 if known is None else known[0]
        if len(args) != wanted:
            raise FormulaError(f"{name} takes {wanted} argument(s), not {len(args)}", self.build.source.place(span[0]))
        slots = [self.number(operand) for operand in args]
        if opened.convert:
            slots = [self.build.cast(slot, CAST_TYPES[opened.convert], span) for slot in slots]
        return self.build.call(name, slots, span) if cast is None else self.build.cast(slots[0], cast, span)

    def _outside(self, name: str, args: List[Operand], span: Tuple[int, int]) -> int:
        slot = self.calls.call(name, args, span) if self.calls else None
        if slot is None:
            raise FormulaError(f"unknown function {name!r}", self.build.source.place(span[0]))
        return slot

    def _reduce(self, binds: int) -> None:
        """Applies the waiting operators that bind at least as tightly as `binds`, up to the open parenthesis."""
        pending = self._pending
        while pending and pending[-1].binds >= max(binds, 1):
            operator = pending.pop()
            right = self._operands.pop()
            if operator.kind == "binary":
                left = self._operands.pop()
                span = (left.start, right.end)
                slot = self.build.binary(operator.text, self.number(left), self.number(right), span)
            else:
                span = (operator.start, right.end)
                slot = self._unary(operator, self.number(right), span)
            self._operands.append(Operand(slot, *span))

    def _unary(self, operator: _Pending, slot: int, span: Tuple[int, int]) -> int:
        if operator.kind == "cast":
            return self.build.cast(slot, CAST_TYPES[operator.text], span)
        return self.build.unary(operator.text, slot, span)

    def number(self, operand: Operand) -> int:
        """The slot of an operand; FormulaError when it is an object."""
        if operand.slot == NO_SLOT:
            text = self.build.source.text[operand.start : operand.end]
            raise FormulaError(f"{text!r} is no number", self.build.source.place(operand.start))
        return operand.slot


_FLOATING = re.compile(r"((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([fFlL]?)\Z")
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)\Z")


def _literal(text: str, parser: ExpressionParser) -> Tuple[Value, CType]:
    """Value and type of a C++ number."""
    integer = _INTEGER.match(text)
    if integer:
        return _integer(integer[1], integer[2].lower(), parser)
    floating = _FLOATING.match(text)
    if not floating:
        raise parser.fail(f"bad number {text!r}")
    return float(floating[1]), CType.F32 if floating[2] in ("f", "F") else CType.F64


def _integer(digits: str, suffix: str, parser: ExpressionParser) -> Tuple[Value, CType]:
    if digits[:2] in ("0x", "0X"):
        value = int(digits, 16)
    elif len(digits) > 1 and digits[0] == "0":
        value = int(digits, 8) if set(digits) <= set("01234567") else -1
    else:
        # Longer ones fit no integer type; int() of very long ones is slow.
        value = int(digits) if len(digits) < 21 else -1
    if not 0 <= value < 1 << 64:
        raise parser.fail(f"bad integer {digits[:30]!r}")
    wide = "l" in suffix or value >= 1 << 31
    if "u" in suffix:
        return value, CType.U64 if "l" in suffix or value >= 1 << 32 else CType.U32
    return value, (CType.U64 if value >= 1 << 63 else CType.I64) if wide else CType.I32
