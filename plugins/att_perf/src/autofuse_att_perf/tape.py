"""One compiled function of the generated code: a straight list of typed instructions, one value slot each.

`autofuse_att_perf.bodies` (or the native twin) writes tapes, `autofuse_att_perf.evaluate` runs them, and the analysis
walks them backwards; nothing here knows C++ text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Dict, List, Optional, Tuple, Union

from autofuse_att_perf.errors import FormulaError

__all__ = ["NO_SLOT", "CType", "Op", "SourceText", "Tape", "Value"]

Value = Union[bool, int, float]

_LINE_BREAK = re.compile("\n")

NO_SLOT = -1
"""The operand of an instruction that has none."""


class CType(IntEnum):
    """Arithmetic types in the order of C++'s usual conversions: the larger one of two operands wins."""

    BOOL = 0
    I32 = 1
    U32 = 2
    I64 = 3
    U64 = 4
    F32 = 5
    F64 = 6
    OBJECT = 7
    """No number: the tiling data, a pipe type. Never an operand."""


class Op(IntEnum):
    """What an instruction does with its operands a, b, c. The native twin uses the same numbers."""

    CONST = 0
    """`consts[a]`"""
    LOAD = 1
    """The value of `symbols[a]`, converted to the slot's type."""
    COPY = 2
    """A named variable: `slot_names` has its name."""
    CAST = 3
    NEG = 4
    NOT = 5
    ADD = 6
    SUB = 7
    MUL = 8
    DIV = 9
    MOD = 10
    """Integer remainder, C's `%`."""
    LT = 11
    LE = 12
    GT = 13
    GE = 14
    EQ = 15
    NE = 16
    AND = 17
    OR = 18
    MAX = 19
    """`a > b ? a : b`, the macro: the second operand when the comparison is false, so with nan."""
    MIN = 20
    """`a < b ? a : b`"""
    STD_MAX = 21
    """`a < b ? b : a`, std::max: the first operand when the comparison is false."""
    STD_MIN = 22
    """`b < a ? b : a`"""
    ABS = 23
    LOG = 24
    POW = 25
    SQRT = 26
    EXP = 27
    IS_EQUAL = 28
    """`|a - b| < 1e-8`"""
    SELECT = 29
    """`a ? b : c`; both sides have been computed."""
    CEILING = 30
    FLOOR = 31
    FMOD = 32


class SourceText:
    """A piece of C++ text and where it stands: `line` is the 1-based line of its first character in `path`."""

    __slots__ = ("_breaks", "line", "path", "text")

    def __init__(self, path: str, text: str, line: int = 1) -> None:
        self.path = path
        self.text = text
        self.line = line
        self._breaks: Optional[List[int]] = None

    def line_of(self, offset: int) -> int:
        """The line of the character at `offset`."""
        if self._breaks is None:
            self._breaks = [match.start() for match in _LINE_BREAK.finditer(self.text)]
        return self.line + bisect_left(self._breaks, offset)

    def place(self, offset: int) -> str:
        """`path:line` of the character at `offset`."""
        return f"{self.path}:{self.line_of(offset)}"


@dataclass
class Tape:
    """Instruction i writes slot i. All lists of instructions have the same length.

    Of a tape that the native twin wrote they are views of its memory, read like lists.
    """

    ops: List[int] = field(default_factory=list)
    a: List[int] = field(default_factory=list)
    b: List[int] = field(default_factory=list)
    c: List[int] = field(default_factory=list)
    types: List[int] = field(default_factory=list)
    starts: List[int] = field(default_factory=list)
    """Offset of the first character of the instruction's expression in its text."""
    ends: List[int] = field(default_factory=list)
    consts: List[Value] = field(default_factory=list)
    symbols: List[str] = field(default_factory=list)
    """Names whose values come from outside, in the order of first use."""
    symbol_slots: List[int] = field(default_factory=list)
    """The first LOAD of each symbol."""
    slot_names: Dict[int, str] = field(default_factory=dict)
    """COPY slot → the variable it is."""
    pipes: Dict[str, int] = field(default_factory=dict)
    """Pipe → slot of its value."""
    result: Optional[int] = None
    """Slot of what the function returns."""
    broken: Dict[int, FormulaError] = field(default_factory=dict)
    """LOAD of a variable that has no value yet where it is used → why."""
    segments: List[Tuple[int, SourceText]] = field(default_factory=list)
    """(first slot, text) of each run of instructions that came from one text, in order."""
    program: Any = None
    """The native twin of this tape, where there is one."""

    def __len__(self) -> int:
        return len(self.ops)

    def source_of(self, slot: int) -> SourceText:
        """The text that the offsets of `slot` refer to."""
        index = bisect_right([first for first, _ in self.segments], slot) - 1
        return self.segments[max(index, 0)][1]

    def text_of(self, slot: int, limit: int) -> str:
        """The C++ expression of `slot`, blanks squeezed; of a longer one than `limit` its two ends.

        Expressions hold each other, so spelling out all of each would take quadratic time.
        """
        text = self.source_of(slot).text
        start, end = self.starts[slot], self.ends[slot]
        if end - start <= limit:
            return " ".join(text[start:end].split())
        head, tail = text[start : start + limit // 2], text[end - limit // 2 : end]
        return f"{' '.join(head.split())} … {' '.join(tail.split())}"

    def place_of(self, slot: int) -> str:
        """`path:line` of `slot`."""
        return self.source_of(slot).place(self.starts[slot])
