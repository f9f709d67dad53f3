"""Compiles one function of generated code to a tape: parameters, single assignments, `if (pipe_type == …)` and returns.

Where functions are and what they belong to is found by `autofuse_att_perf.scopes`; what a call of a sibling function
means is said by the caller.
"""

from __future__ import annotations

import re
from typing import Dict, List, Mapping, NamedTuple, Optional, Tuple

from autofuse_att_perf.builder import CAST_TYPES, TapeBuilder
from autofuse_att_perf.errors import FormulaError
from autofuse_att_perf.expressions import Calls, ExpressionParser, Names
from autofuse_att_perf.lexer import NAME, STRING, tokenize
from autofuse_att_perf.tape import NO_SLOT, CType, Op, SourceText

__all__ = ["BodyCompiler", "Function", "Parameter"]


class Parameter(NamedTuple):
    """One parameter; `ctype` is OBJECT for the tiling data, the pipe type and the like."""

    name: str
    ctype: CType


class Function(NamedTuple):
    """A function found in a text: `start` and `end` are the offsets inside its braces."""

    name: str
    parameters: Tuple[Parameter, ...]
    result: CType
    source: SourceText
    start: int
    end: int

    @property
    def place(self) -> str:
        """`path:line` of the body."""
        return self.source.place(self.start)

    @property
    def text(self) -> str:
        """The body."""
        return self.source.text[self.start : self.end]


_QUALIFIERS = frozenset(("const", "static", "constexpr"))
_CHANGES_NOTHING = re.compile(r"log|print|flush|assert|check|\bstd::", re.IGNORECASE)
"""Calls that only look at their arguments."""
_ASSIGN = {"+=": "+", "-=": "-", "*=": "*", "/=": "/"}


class BodyCompiler:
    """Compiles the body of `function` onto `build`; parameters are taken from `bound` or else from the log.

    `pipes` gets what `if (pipe_type == …)` returns, `result` what the function returns otherwise. An expression that
    cannot be read spoils what depends on it and nothing else: `errors` has the reason under the pipe, or under "" for
    the result.
    """

    def __init__(
        self,
        function: Function,
        build: TapeBuilder,
        calls: Optional[Calls] = None,
        bound: Optional[Mapping[str, int]] = None,
        awaited: str = "",
    ) -> None:
        self.function = function
        self.build = build
        self.names = Names()
        self.parser = ExpressionParser(
            build, tokenize(function.source, function.start, function.end), self.names, calls
        )
        self.result: Optional[int] = None
        self.pipes: Dict[str, int] = {}
        self.errors: Dict[str, FormulaError] = {}
        self._guard: List[Optional[str]] = []
        """The pipe of each `if` that is open, None for plain blocks."""
        self._next_guard: Optional[str] = None
        self._awaited = awaited
        """The function whose call is looked for: conditions that stop before it are passed over."""
        self._bind_parameters(bound or {})

    def _bind_parameters(self, bound: Mapping[str, int]) -> None:
        span = (self.function.start, self.function.start)
        for parameter in self.function.parameters:
            if parameter.ctype is CType.OBJECT:
                self.names.objects[parameter.name] = ""
            else:
                slot = bound.get(parameter.name, NO_SLOT)
                if slot == NO_SLOT:
                    slot = self.build.load(parameter.name, parameter.ctype, span)
                self.names.slots[parameter.name] = self.build.cast(slot, parameter.ctype, span)

    def compile(self) -> None:
        """Reads every statement; FormulaError where one is no statement of the language."""
        parser = self.parser
        while parser.texts[parser.at]:
            self._statement()
        if self._guard:
            raise parser.fail("a block is not closed")

    # --- statements --------------------------------------------------------------------------------------------------

    def _statement(self) -> None:
        parser = self.parser
        text = parser.texts[parser.at]
        if text in _STATEMENTS:
            _STATEMENTS[text](self)
        elif text in _QUALIFIERS:
            parser.at += 1
        elif parser.kinds[parser.at] == NAME:
            self._named_statement(text)
        else:
            raise parser.fail(f"unexpected {text!r}")

    def _named_statement(self, text: str) -> None:
        parser = self.parser
        following, after = parser.texts[parser.at + 1], parser.texts[parser.at + 2]
        if (text in CAST_TYPES or text == "auto") and parser.kinds[parser.at + 1] == NAME:
            self._declaration(text)
        elif following == "=" or following in _ASSIGN:
            self._assignment(text, following)
        elif following == "(" or following == "::":
            self._call_for_effect()
        elif following in ("&", "*", "const") or (parser.kinds[parser.at + 1] == NAME and after in ("=", ";")):
            self._object_declaration()
        else:
            raise parser.fail(f"unexpected {text!r}")

    def _declaration(self, type_name: str) -> None:
        parser = self.parser
        parser.at += 1
        ctype = CType.OBJECT if type_name == "auto" else CAST_TYPES[type_name]
        while True:
            self._declarator(ctype)
            if parser.texts[parser.at] != ",":
                break
            parser.at += 1
        self._expect(";")

    def _declarator(self, ctype: CType) -> None:
        parser = self.parser
        name, at = parser.texts[parser.at], parser.at
        if parser.kinds[at] != NAME:
            raise parser.fail("a variable name is expected")
        opening = parser.texts[at + 1]
        if opening not in ("=", "{", "("):
            raise parser.fail(f"{name} gets no value", at)
        parser.at += 2
        try:
            operand = parser.parse_operand()
            self._check_end(opening)
        except FormulaError as error:
            self.names.broken[name] = error
            self._to_semicolon()
            return
        if operand.slot == NO_SLOT:
            self.names.objects[name] = ""
            return
        self._bind(name, ctype, operand.slot, (operand.start, operand.end), at)

    def _check_end(self, opening: str) -> None:
        if opening != "=":
            self._expect("}" if opening == "{" else ")")
        if self.parser.texts[self.parser.at] not in (";", ","):
            self._expect(";")

    def _to_semicolon(self) -> None:
        parser = self.parser
        while parser.texts[parser.at] not in (";", ""):
            parser.at += 1

    def _bind(self, name: str, ctype: CType, slot: int, span: Tuple[int, int], at: int) -> None:
        for used in self.names.free.pop(name, ()):
            self._mark_early_use(name, used, self.parser.starts[at])
        self._name_opaque_load(name, slot)
        self.names.slots[name] = self.build.name(name, ctype, slot, span)

    def _mark_early_use(self, name: str, slot: int, declared: int) -> None:
        """The log may know a value of that name, but it is not what the variable holds."""
        tape = self.build.tape
        what = "is defined by itself" if tape.starts[slot] >= declared else "is used before it has a value"
        tape.broken[slot] = FormulaError(f"{name!r} {what}", tape.place_of(slot))

    def _name_opaque_load(self, name: str, slot: int) -> None:
        """`double s0 = static_cast<double>(input_.input_vars[0]->value)`: the variable names the value of the log."""
        tape = self.build.tape
        while tape.ops[slot] == Op.CAST:
            slot = tape.a[slot]
        if tape.ops[slot] == Op.LOAD and "[" in tape.symbols[tape.a[slot]]:
            self.build.rename_symbol(tape.a[slot], name)

    def _assignment(self, name: str, sign: str) -> None:
        """`x = expr;` and `x += expr;`; a name that is not declared is a member of the class."""
        parser = self.parser
        at, old = parser.at, self.names.slots.get(name)
        if old is None and sign != "=":
            raise parser.fail(f"{name!r} is not declared")
        parser.at += 2
        operand = parser.parse_operand()
        span = (operand.start, operand.end)
        slot = operand.slot
        if slot == NO_SLOT:
            raise parser.fail(f"{name!r} gets no number", at)
        if old is not None and sign != "=":
            slot = self.build.binary(_ASSIGN[sign], old, slot, (parser.starts[at], operand.end))
        if self._guard:
            raise parser.fail(f"{name!r} is assigned inside a block", at)
        ctype = CType.OBJECT if old is None else self.build.type_of(old)
        self.names.slots[name] = self.build.name(name, ctype, slot, span)
        self._expect(";")

    def _object_declaration(self) -> None:
        """`const auto &data = tiling_data.group;` and other variables that are no numbers."""
        parser = self.parser
        while parser.texts[parser.at + 1] not in ("=", ";", ""):
            parser.at += 1
        self.names.objects[parser.texts[parser.at]] = ""
        self._skip_statement()

    def _call_for_effect(self) -> None:
        """`CalUsedCoreNum(block_dim);` may set the variables that it is given: their values are then the log's."""
        parser = self.parser
        at = parser.at
        self._skip_statement()
        callee = "".join(parser.texts[at : parser.texts.index("(", at)])
        if _CHANGES_NOTHING.search(callee):
            return
        for place in range(at + 1, parser.at):
            name = parser.texts[place]
            alone = parser.texts[place - 1] in "(,&" and parser.texts[place + 1] in "),"
            if alone and parser.kinds[place] == NAME and name in self.names.slots:
                span = (parser.starts[place], parser.starts[place] + len(name))
                ctype = self.build.type_of(self.names.slots[name])
                self.names.slots[name] = self.build.name(name, ctype, self.build.load(name, CType.F64, span), span)

    def _skip_statement(self) -> None:
        """A statement that changes no value."""
        parser = self.parser
        while parser.texts[parser.at] not in (";", "{", "}") or parser.kinds[parser.at] == STRING:
            if not parser.texts[parser.at]:
                raise parser.fail("a statement is not closed")
            parser.at += 1
        self._expect(";")

    def _return(self) -> None:
        parser = self.parser
        parser.at += 1
        if parser.texts[parser.at] == ";":
            parser.at += 1
            return
        pipe = self._next_guard or next((guard for guard in reversed(self._guard) if guard), None)
        self._next_guard = None
        try:
            operand = parser.parse_operand()
            slot = parser.number(operand)
            if parser.texts[parser.at] != ";":
                self._expect(";")
        except FormulaError as error:
            self.errors.setdefault(pipe or "", error)
            self._to_semicolon()
            self._expect(";")
            return
        if pipe is not None:
            self.pipes.setdefault(pipe, slot)
        elif self.result is None:
            # A name of its own, so that what belongs to the returned expression can say so.
            span = (operand.start, operand.end)
            self.result = self.build.name(f"{self.function.name}()", self.function.result, slot, span)
        self._expect(";")

    def _if(self) -> None:
        """`if (pipe_type == PipeType::X)`, the only condition that generated formulas have."""
        parser = self.parser
        at = parser.at
        parser.at += 1
        self._to_end_of_block("(", ")")
        text = "".join(parser.texts[at + 2 : parser.at - 1])
        left, _, right = text.partition("==")
        sides = [side for side in (left, right) if side not in self.names.objects]
        if not right or len(sides) != 1:
            if not self._passed_over():
                raise parser.fail(f"an if on {text!r} is outside the formula language", at)
            return
        self._next_guard = sides[0].rpartition("::")[2].strip('"')

    def _passed_over(self) -> bool:
        """`if (tiling_data.get_block_dim() == 0) { return 0.0; }` says nothing about the call that is looked for."""
        parser = self.parser
        at = parser.at
        if not self._awaited:
            return False
        if parser.texts[at] == "{":
            self._to_end_of_block("{", "}")
        else:
            self._skip_statement()
        return self._awaited not in parser.texts[at : parser.at]

    def _to_end_of_block(self, opening: str, closing: str) -> None:
        """Moves behind the bracket that closes the one that stands here."""
        parser = self.parser
        depth = 0
        while True:
            text = parser.texts[parser.at]
            if not text:
                raise parser.fail(f"{closing!r} is missing")
            depth += (text == opening) - (text == closing)
            parser.at += 1
            if depth <= 0:
                return

    def _else(self) -> None:
        self.parser.at += 1

    def _switch(self) -> None:
        """`switch (pipe_type) { case PipeType::X: return …; }`"""
        parser = self.parser
        if parser.texts[parser.at + 2] not in self.names.objects or parser.texts[parser.at + 4] != "{":
            raise parser.fail("a switch on something else than the pipe type is outside the formula language")
        parser.at += 5
        self._guard.append(None)

    def _case(self) -> None:
        parser = self.parser
        parser.at += 1
        while parser.texts[parser.at] != ":" and parser.texts[parser.at]:
            self._next_guard = parser.texts[parser.at]
            parser.at += 1
        self._expect(":")

    def _default(self) -> None:
        parser = self.parser
        parser.at += 1
        self._expect(":")
        self._next_guard = None

    def _break(self) -> None:
        self.parser.at += 1
        self._expect(";")

    def _open(self) -> None:
        self._guard.append(self._next_guard)
        self._next_guard = None
        self.parser.at += 1

    def _close(self) -> None:
        if not self._guard:
            raise self.parser.fail("unexpected '}'")
        self._guard.pop()
        self.parser.at += 1

    def _void(self) -> None:
        """`(void)x;`"""
        if self.parser.texts[self.parser.at + 1] != "void":
            raise self.parser.fail("unexpected '('")
        self._skip_statement()

    def _empty(self) -> None:
        self.parser.at += 1

    def _expect(self, text: str) -> None:
        if self.parser.texts[self.parser.at] != text:
            found = self.parser.texts[self.parser.at]
            raise self.parser.fail(f"{text!r} is expected" + (f" before {found!r}" if found else ""))
        self.parser.at += 1


_STATEMENTS = {
    "return": BodyCompiler._return,
    "if": BodyCompiler._if,
    "else": BodyCompiler._else,
    "switch": BodyCompiler._switch,
    "case": BodyCompiler._case,
    "default": BodyCompiler._default,
    "break": BodyCompiler._break,
    "{": BodyCompiler._open,
    "}": BodyCompiler._close,
    "(": BodyCompiler._void,
    ";": BodyCompiler._empty,
}
