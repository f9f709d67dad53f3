"""Which functions of the generated sources belong to which template, and their tapes: pipes, objective, UB and blocks.

All three generations of style end in the same `TemplateFormulas`; evaluation and analysis do not see the difference.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from autofuse_att_perf.bodies import BodyCompiler, Function
from autofuse_att_perf.builder import TapeBuilder
from autofuse_att_perf.errors import FormulaError
from autofuse_att_perf.expressions import Operand
from autofuse_att_perf.native import compile_static
from autofuse_att_perf.scopes import functions
from autofuse_att_perf.sources import SourceUnit
from autofuse_att_perf.tape import NO_SLOT, CType, Tape

__all__ = ["GroupKey", "TemplateFormulas", "TemplateKey", "UnitFormulas", "is_pipe"]

GroupKey = Optional[Tuple[int, int, int]]
"""(graph, result, group); None for the namespace `optiling` of an operator with a single group."""
TemplateKey = Tuple[GroupKey, int, str]
"""(group, case, sub case)"""

_PIPE = re.compile(r"(?:AIC|AIV|AICORE)_[A-Z0-9]+|PIPE_[A-Z0-9]+")
_GROUP = re.compile(r"AscGraph(\d{1,9})ScheduleResult(\d{1,9})G(\d{1,9})\b")
_CLASS = re.compile(r"(?:AxesReorderSolvercase|TilingCase)([A-Za-z]*)(\d{1,18})(?:Impl)?")
_FUNCTION = re.compile(
    r"Get(?:Perf|PerfStatic|UbSizeStatic|BlockDimStatic|ub_size|block_dim|TilingData\w*|(?:AI[A-Z]+|PIPE)_[A-Z0-9]+)"
)
_SIZES = {"ub_size": ("GetUbSizeStatic", "Getub_size"), "block_dim": ("GetBlockDimStatic", "Getblock_dim")}
"""Quantity → its function in the newest and in the older style."""
_MAX_TAPE = 2_000_000
_MAX_CALL_DEPTH = 40


@lru_cache(maxsize=4096)
def is_pipe(name: str) -> bool:
    """Whether `name` is that of a pipe, such as AIV_MTE2."""
    return _PIPE.fullmatch(name) is not None


@dataclass
class TemplateFormulas:
    """What the sources say about one template. A quantity that cannot be compiled has its error instead."""

    function: Function
    """The function with the pipes, or the first one found."""
    perf: Optional[Tape] = None
    """Pipes in `perf.pipes`, the objective in `perf.result`."""
    ub_size: Optional[Tape] = None
    block_dim: Optional[Tape] = None
    errors: Dict[str, FormulaError] = field(default_factory=dict)
    """Pipe, `objective`, `ub_size` or `block_dim` → why it has no value; `*` for all pipes and the objective."""


class UnitFormulas:
    """The formulas of one operator: its texts are searched when they are first asked, functions compiled one by one."""

    def __init__(self, unit: SourceUnit) -> None:
        self.unit = unit
        self._compiled: Dict[TemplateKey, TemplateFormulas] = {}

    def __len__(self) -> int:
        return len(self._classes)

    @property
    def keys(self) -> Iterable[TemplateKey]:
        """The templates that have functions."""
        return self._classes.keys()

    def of(self, key: TemplateKey) -> Optional[TemplateFormulas]:
        """The formulas of one template; None when the sources hold none."""
        found = self._classes.get(key)
        if found is None:
            return None
        if key not in self._compiled:
            self._compiled[key] = _compile_template(found)
        return self._compiled[key]

    @cached_property
    def _classes(self) -> Dict[TemplateKey, List[Function]]:
        classes: Dict[TemplateKey, List[Function]] = {}
        for text in self.unit.texts:
            for scoped in functions(text, _FUNCTION):
                named = _CLASS.fullmatch(scoped.class_name)
                if named:
                    key = (_group_key(_GROUP.search(scoped.namespace)), int(named[2]), named[1])
                    classes.setdefault(key, []).append(scoped.function)
        return {key: found for key, found in classes.items() if _has_formula(found)}


def _group_key(match: Optional[re.Match[str]]) -> GroupKey:
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def _has_formula(found: Sequence[Function]) -> bool:
    return any(not function.name.startswith("GetTilingData") for function in found)


# --- one template -----------------------------------------------------------------------------------------------------


def _compile_template(found: Sequence[Function]) -> TemplateFormulas:
    by_name: Dict[str, Function] = {}
    for function in found:
        # GetPerf() of the solver and GetPerf(tiling_data) of the case: the one that names its data says more.
        known = by_name.get(function.name)
        if known is None or (not known.parameters and function.parameters):
            by_name[function.name] = function
    perf = by_name.get("GetPerfStatic")
    formulas = TemplateFormulas(perf or found[0])
    if perf is not None:
        _compile_into(formulas, "*", "perf", perf, by_name)
    else:
        _compile_getters(formulas, by_name)
    for quantity, names in _SIZES.items():
        name = next((name for name in names if name in by_name), None)
        if name is not None:
            _compile_into(formulas, quantity, quantity, by_name[name], by_name)
    return formulas


def _compile_into(
    formulas: TemplateFormulas, quantity: str, attribute: str, function: Function, by_name: Mapping[str, Function]
) -> None:
    try:
        mapping = _mapping(function, by_name)
        tape = compile_static(function, mapping)
        if tape is None:
            tape, errors = _compile_static(function, mapping, by_name)
            for name, error in errors.items():
                formulas.errors[name or ("objective" if quantity == "*" else quantity)] = error
        setattr(formulas, attribute, tape)
    except FormulaError as error:
        formulas.errors[quantity] = error


def _mapping(function: Function, by_name: Mapping[str, Function]) -> Optional[Function]:
    """The function that calls `function` with the fields of the tiling data, where there is one."""
    call = function.name + "("
    for name, candidate in by_name.items():
        if name.startswith("GetTilingData") and call in candidate.text:
            return candidate
    return None


def _compile_static(
    function: Function, mapping: Optional[Function], by_name: Mapping[str, Function]
) -> Tuple[Tape, Dict[str, FormulaError]]:
    """A static function of numbers, its parameters fed as the mapping function feeds them, else by their own names.

    The errors are those of `BodyCompiler.errors`.
    """
    build = TapeBuilder(function.source)
    calls = _Siblings(by_name, build)
    bound = _bound_parameters(function, mapping, build, calls) if mapping else {}
    build.enter(function.source)
    compiler = BodyCompiler(function, build, calls, bound)
    compiler.compile()
    tape = build.tape
    tape.result = compiler.result
    tape.pipes = _pipes(compiler)
    return tape, _errors(compiler)


def _pipes(compiler: BodyCompiler) -> Dict[str, int]:
    """Pipe → slot: what is returned for it, else the variable of its name."""
    slots = compiler.names.slots
    pipes = {name: slot for name, slot in compiler.pipes.items() if is_pipe(name) or name in slots}
    for name, slot in slots.items():
        if is_pipe(name):
            pipes.setdefault(name, slot)
    return pipes


def _errors(compiler: BodyCompiler) -> Dict[str, FormulaError]:
    """The errors of returned values, and of variables that are pipes."""
    errors = {name: error for name, error in compiler.names.broken.items() if is_pipe(name)}
    return {**errors, **compiler.errors}


def _bound_parameters(function: Function, mapping: Function, build: TapeBuilder, calls: _Siblings) -> Dict[str, int]:
    calls.captured_name = function.name
    build.enter(mapping.source)
    compiler = BodyCompiler(mapping, build, calls, awaited=function.name)
    compiler.compile()
    calls.captured_name = ""
    args = calls.captured
    if args is None:
        for error in (*compiler.errors.values(), *compiler.names.broken.values()):
            raise error
        raise FormulaError(f"{mapping.name} does not call {function.name}", mapping.place)
    if len(args) != len(function.parameters):
        wanted = len(function.parameters)
        raise FormulaError(f"{function.name} takes {wanted} argument(s), not {len(args)}", mapping.place)
    return {parameter.name: arg.slot for parameter, arg in zip(function.parameters, args)}


# --- older styles -----------------------------------------------------------------------------------------------------


def _compile_getters(formulas: TemplateFormulas, by_name: Mapping[str, Function]) -> None:
    """`Get<PIPE>(tiling_data)` and `GetPerf(…)`; every pipe stands or fails by itself."""
    getters = {name[3:]: function for name, function in by_name.items() if is_pipe(name[3:])}
    perf = by_name.get("GetPerf")
    first = perf or next(iter(getters.values()), None)
    if first is None:
        return
    build = TapeBuilder(first.source)
    calls = _Siblings(by_name, build)
    for pipe, function in getters.items():
        try:
            build.tape.pipes[pipe] = calls.inline(function, (NO_SLOT,) * len(function.parameters))
        except FormulaError as error:
            formulas.errors[pipe] = error
    if perf is not None:
        _compile_get_perf(formulas, perf, build, calls)
    if build.tape.pipes or build.tape.result is not None:
        formulas.perf = build.tape


def _compile_get_perf(formulas: TemplateFormulas, perf: Function, build: TapeBuilder, calls: _Siblings) -> None:
    tape = build.tape
    try:
        build.enter(perf.source)
        calls.open.append(perf.name)
        compiler = BodyCompiler(perf, build, calls)
        compiler.compile()
        tape.result = compiler.result
        for name, slot in _pipes(compiler).items():
            tape.pipes.setdefault(name, slot)
        for name, error in _errors(compiler).items():
            formulas.errors.setdefault(name or "objective", error)
    except FormulaError as error:
        formulas.errors["objective" if tape.pipes else "*"] = error
    finally:
        calls.open.pop()


class _Siblings:
    """Calls of functions of the same template: their bodies are compiled in place."""

    def __init__(self, by_name: Mapping[str, Function], build: TapeBuilder) -> None:
        self.by_name = by_name
        self.build = build
        self.open: List[str] = []
        self.captured_name = ""
        self.captured: Optional[Sequence[Operand]] = None
        self._done: Dict[Tuple[str, Tuple[int, ...]], int] = {}

    def call(self, name: str, args: Sequence[Operand], span: Tuple[int, int]) -> Optional[int]:
        """See `autofuse_att_perf.expressions.Calls`."""
        plain = name.rpartition("::")[2]
        if plain == self.captured_name:
            self.captured = list(args)
            return self.build.const(0.0, CType.F64, span)
        function = self.by_name.get(plain)
        if function is None:
            return None
        if len(args) != len(function.parameters):
            wanted = len(function.parameters)
            raise FormulaError(f"{plain} takes {wanted} argument(s), not {len(args)}", self.build.source.place(span[0]))
        return self.inline(function, tuple(arg.slot for arg in args))

    def inline(self, function: Function, args: Tuple[int, ...]) -> int:
        """The slot of what `function` returns for `args`."""
        key = (function.name, args)
        if key not in self._done:
            self._check(function)
            before = self.build.source
            self.build.enter(function.source)
            self.open.append(function.name)
            try:
                self._done[key] = self._compile(function, args)
            finally:
                self.open.pop()
                self.build.enter(before)
        return self._done[key]

    def _compile(self, function: Function, args: Tuple[int, ...]) -> int:
        bound = {parameter.name: slot for parameter, slot in zip(function.parameters, args) if slot != NO_SLOT}
        compiler = BodyCompiler(function, self.build, self, bound)
        compiler.compile()
        if "" in compiler.errors:
            raise compiler.errors[""]
        if compiler.result is None:
            raise FormulaError(f"{function.name} returns nothing", function.place)
        return compiler.result

    def _check(self, function: Function) -> None:
        if function.name in self.open:
            path = " → ".join([*self.open[self.open.index(function.name) :], function.name])
            raise FormulaError(f"{function.name} calls itself ({path})", function.place)
        if len(self.open) >= _MAX_CALL_DEPTH or len(self.build.tape) > _MAX_TAPE:
            raise FormulaError(f"the calls of {self.open[0]} nest too deep", function.place)
