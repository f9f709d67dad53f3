"""Writes tapes: instructions typed by C++'s usual arithmetic conversions, and the functions of generated code.

The parser says which operator or function stands where; this module knows what type comes out of it.
"""

from __future__ import annotations

from typing import Callable, Dict, Sequence, Tuple

from autofuse_att_perf.errors import FormulaError
from autofuse_att_perf.tape import NO_SLOT, CType, Op, SourceText, Tape, Value

__all__ = ["CAST_TYPES", "FUNCTIONS", "TapeBuilder"]

CAST_TYPES: Dict[str, CType] = {
    "bool": CType.BOOL,
    "int": CType.I32,
    "int32_t": CType.I32,
    "unsigned": CType.U32,
    "uint32_t": CType.U32,
    "long": CType.I64,
    "int64_t": CType.I64,
    "uint64_t": CType.U64,
    "size_t": CType.U64,
    "float": CType.F32,
    "double": CType.F64,
}
"""Type names of generated code."""

_BINARY: Dict[str, Op] = {
    "+": Op.ADD,
    "-": Op.SUB,
    "*": Op.MUL,
    "/": Op.DIV,
    "%": Op.MOD,
    "<": Op.LT,
    "<=": Op.LE,
    ">": Op.GT,
    ">=": Op.GE,
    "==": Op.EQ,
    "!=": Op.NE,
    "&&": Op.AND,
    "||": Op.OR,
}
_COMPARISONS = frozenset((Op.LT, Op.LE, Op.GT, Op.GE, Op.EQ, Op.NE))
_LOGIC = frozenset((Op.AND, Op.OR))

Span = Tuple[int, int]


class TapeBuilder:
    """Appends instructions to one tape. `span` is the (start, end) of the expression in the current text."""

    def __init__(self, source: SourceText) -> None:
        self.tape = Tape()
        self.source = source
        self.enter(source)
        self._symbols: Dict[str, int] = {}

    def enter(self, source: SourceText) -> None:
        """From here on offsets refer to `source`."""
        self.source = source
        segments, here = self.tape.segments, len(self.tape)
        if segments and segments[-1][0] == here:
            segments.pop()
        segments.append((here, source))

    def emit(self, op: Op, ctype: CType, span: Span, a: int = NO_SLOT, b: int = NO_SLOT, c: int = NO_SLOT) -> int:
        """Appends one instruction and gives its slot."""
        tape = self.tape
        tape.ops.append(op)
        tape.types.append(ctype)
        tape.a.append(a)
        tape.b.append(b)
        tape.c.append(c)
        tape.starts.append(span[0])
        tape.ends.append(span[1])
        return len(tape.ops) - 1

    def const(self, value: Value, ctype: CType, span: Span) -> int:
        """A literal."""
        self.tape.consts.append(value)
        return self.emit(Op.CONST, ctype, span, len(self.tape.consts) - 1)

    def load(self, symbol: str, ctype: CType, span: Span) -> int:
        """The value of a name from outside."""
        index = self._symbols.setdefault(symbol, len(self.tape.symbols))
        slot = self.emit(Op.LOAD, ctype, span, index)
        if index == len(self.tape.symbols):
            self.tape.symbols.append(symbol)
            self.tape.symbol_slots.append(slot)
        return slot

    def rename_symbol(self, index: int, name: str) -> None:
        """Symbol `index` is the log's value `name`."""
        self._symbols[name] = index
        self.tape.symbols[index] = name

    def name(self, name: str, ctype: CType, slot: int, span: Span) -> int:
        """A variable of `ctype` (OBJECT for `auto`) that holds `slot`."""
        if ctype is CType.OBJECT:
            ctype = self.type_of(slot)
        copy = self.emit(Op.COPY, ctype, span, self.cast(slot, ctype, span))
        self.tape.slot_names[copy] = name
        return copy

    def type_of(self, slot: int) -> CType:
        """The type of a slot."""
        return CType(self.tape.types[slot])

    def cast(self, slot: int, ctype: CType, span: Span) -> int:
        """`slot` as `ctype`; the slot itself when it is of that type."""
        if self.tape.types[slot] == ctype:
            return slot
        return self.emit(Op.CAST, ctype, span, slot)

    def unary(self, sign: str, slot: int, span: Span) -> int:
        """`-x`, `+x` or `!x`."""
        if sign == "!":
            return self.emit(Op.NOT, CType.BOOL, span, self.cast(slot, CType.BOOL, span))
        slot = self.cast(slot, self._common(slot), span)
        return slot if sign == "+" else self.emit(Op.NEG, self.type_of(slot), span, slot)

    def binary(self, sign: str, a: int, b: int, span: Span) -> int:
        """`a sign b`."""
        op = _BINARY[sign]
        if op in _LOGIC:
            return self.emit(op, CType.BOOL, span, self.cast(a, CType.BOOL, span), self.cast(b, CType.BOOL, span))
        return self.both(op, a, b, span, CType.BOOL if op in _COMPARISONS else None)

    def both(self, op: Op, a: int, b: int, span: Span, result: CType | None = None) -> int:
        """An instruction whose two operands are brought to their common type, which is also the result's by default."""
        common = self._common(a, b)
        if op is Op.MOD and common >= CType.F32:
            raise FormulaError("% needs integers on both sides", self.source.place(span[0]))
        return self.emit(
            op, common if result is None else result, span, self.cast(a, common, span), self.cast(b, common, span)
        )

    def _common(self, *slots: int) -> CType:
        return max(CType.I32, *(self.type_of(slot) for slot in slots))

    def call(self, name: str, args: Sequence[int], span: Span) -> int:
        """A function of FUNCTIONS; the number of arguments has been checked."""
        return FUNCTIONS[name][1](self, args, span)


_Emit = Callable[[TapeBuilder, Sequence[int], Span], int]


def _same_type(op: Op) -> _Emit:
    return lambda build, args, span: build.both(op, args[0], args[1], span)


def _infix(sign: str) -> _Emit:
    return lambda build, args, span: build.binary(sign, args[0], args[1], span)


def _doubles(op: Op) -> _Emit:
    def emit(build: TapeBuilder, args: Sequence[int], span: Span) -> int:
        result = CType.BOOL if op is Op.IS_EQUAL else CType.F64
        return build.emit(op, result, span, *(build.cast(slot, CType.F64, span) for slot in args))

    return emit


def _keeps_type(op: Op) -> _Emit:
    def emit(build: TapeBuilder, args: Sequence[int], span: Span) -> int:
        slot = build.cast(args[0], build._common(args[0]), span)
        # An integer is its own ceiling and floor.
        if op is not Op.ABS and build.type_of(slot) < CType.F32:
            return slot
        return build.emit(op, build.type_of(slot), span, slot)

    return emit


def _select(build: TapeBuilder, args: Sequence[int], span: Span) -> int:
    common = build._common(args[1], args[2])
    condition = build.cast(args[0], CType.BOOL, span)
    return build.emit(
        Op.SELECT, common, span, condition, build.cast(args[1], common, span), build.cast(args[2], common, span)
    )


FUNCTIONS: Dict[str, Tuple[int, _Emit]] = {
    "Max": (2, _same_type(Op.MAX)),
    "Min": (2, _same_type(Op.MIN)),
    "std::max": (2, _same_type(Op.STD_MAX)),
    "std::min": (2, _same_type(Op.STD_MIN)),
    "Abs": (1, _keeps_type(Op.ABS)),
    "std::abs": (1, _keeps_type(Op.ABS)),
    "Log": (1, _doubles(Op.LOG)),
    "Pow": (2, _doubles(Op.POW)),
    "Sqrt": (1, _doubles(Op.SQRT)),
    "Exp": (1, _doubles(Op.EXP)),
    "Rational": (2, _doubles(Op.DIV)),
    "ExpectEq": (2, _infix("==")),
    "ExpectNe": (2, _infix("!=")),
    "ExpectLe": (2, _infix("<=")),
    "ExpectLt": (2, _infix("<")),
    "LogicAnd": (2, _infix("&&")),
    "LogicOr": (2, _infix("||")),
    "IsEqual": (2, _doubles(Op.IS_EQUAL)),
    "TernaryOp": (3, _select),
    "Ceiling": (1, _keeps_type(Op.CEILING)),
    "Floor": (1, _keeps_type(Op.FLOOR)),
    "Mod": (2, _doubles(Op.FMOD)),
}
"""Function → (number of arguments, how it is emitted). The names and their meaning are those of generated code."""
