"""The way to the native twin of compiler and evaluator; without it Python does the work, with the same results.

The twin compiles the newest style of sources without mistakes in them; whatever else it meets it hands back.
"""

from __future__ import annotations

import importlib
import os
from functools import lru_cache
from typing import Any, List, Mapping, Optional, Sequence, Tuple, cast

from autofuse_att_perf import evaluate as python
from autofuse_att_perf.bodies import Function, Parameter
from autofuse_att_perf.tape import SourceText, Tape, Value

__all__ = ["available", "blank_comments", "compile_static", "evaluate", "result_of", "run_changes"]


_VERSION = 3


def _load() -> Any:
    if os.environ.get("AUTOFUSE_ATT_PERF_PYTHON"):
        return None
    try:
        module = importlib.import_module("autofuse_att_perf._perf")
    except ImportError:
        return None
    # Built from other sources than these, as in an editable installation after an update.
    return module if getattr(module, "version", 0) == _VERSION else None


_module: Any = _load()


def available() -> bool:
    """Whether the native twin is there (it is not where the package was installed without a compiler)."""
    return _module is not None


def blank_comments(text: str) -> Optional[str]:
    """As `autofuse_att_perf.scopes.blank_comments`; None where Python has to do it."""
    return cast(str, _module.blank(text)) if _module is not None and text.isascii() else None


def compile_static(function: Function, mapping: Optional[Function]) -> Optional[Tape]:
    """The tape of a static function, or None: then the Python compiler reads it (and words the errors)."""
    if _module is None:
        return None
    body = _body(function)
    feeder = None if mapping is None else _body(mapping)
    if body is None or (mapping is not None and feeder is None):
        return None
    program = _module.compile(body, feeder)
    return None if program is None else _tape(program, function, mapping)


def evaluate(tape: Tape, values: Mapping[str, Value]) -> python.Evaluation:
    """See `autofuse_att_perf.evaluate.evaluate`; natively all values are doubles."""
    if tape.program is not None:
        try:
            inputs = [values[symbol] for symbol in tape.symbols]
        except KeyError:
            return python.evaluate(tape, values)
        found = tape.program.run(inputs)
        if found is not None:
            return python.Evaluation(memoryview(found).cast("d"), inputs)
    return python.evaluate(tape, values)


def result_of(tape: Tape, values: Mapping[str, Value]) -> Optional[float]:
    """What the function returns; None when only `evaluate` can tell (and say why not)."""
    if tape.program is None:
        return None
    try:
        return cast(Optional[float], tape.program.result_of([values[symbol] for symbol in tape.symbols]))
    except KeyError:
        return None


def run_changes(
    tape: Tape, evaluation: python.Evaluation, changes: Sequence[Tuple[int, Value]], slots: Sequence[int]
) -> Sequence[Sequence[Optional[Value]]]:
    """See `autofuse_att_perf.evaluate.evaluate_changes`."""
    if tape.program is not None and slots and not evaluation.partly:
        found = tape.program.run_changes(evaluation.inputs, changes, slots)
        if found is not None:
            flat = memoryview(found).cast("d").tolist()
            count = len(slots)
            return [flat[start : start + count] for start in range(0, len(flat), count)]
    return python.evaluate_changes(tape, evaluation, changes, slots)


_Body = Tuple[str, str, int, Tuple[Tuple[str, int], ...], int]


def _body(function: Function) -> Optional[_Body]:
    text = function.text
    # Offsets count characters; only in ASCII are those bytes too.
    if not text.isascii() or function.end > 2**31 - 1:
        return None
    return (function.name, text, function.start, _typed(function.parameters), int(function.result))


@lru_cache(maxsize=4096)
def _typed(parameters: Tuple[Parameter, ...]) -> Tuple[Tuple[str, int], ...]:
    return tuple((parameter.name, int(parameter.ctype)) for parameter in parameters)


class _NativeTape(Tape):
    """A tape whose columns are fetched from native memory when they are looked at."""

    def __init__(self, program: Any, segments: List[Tuple[int, SourceText]]) -> None:
        self.program = program
        self.symbols = program.symbols
        self.pipes = program.pipes
        self.result = None if program.result < 0 else program.result
        self.segments = segments
        self.broken = {}

    def __getattr__(self, name: str) -> Any:
        if name in _COLUMNS:
            for column, raw in zip(_COLUMNS, self.program.arrays):
                setattr(self, column, memoryview(raw).cast("i"))
        elif name == "slot_names":
            self.slot_names = self.program.names
        elif name in ("consts", "symbol_slots"):
            setattr(self, name, getattr(self.program, name))
        else:
            raise AttributeError(name)
        return getattr(self, name)


_COLUMNS = ("ops", "a", "b", "c", "types", "starts", "ends")


def _tape(program: Any, function: Function, mapping: Optional[Function]) -> Tape:
    segments = [(0, function.source)]
    if mapping is not None:
        segments = [(0, mapping.source), (program.mapping_end, function.source)]
    return _NativeTape(program, segments)
