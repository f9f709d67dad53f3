"""Builds a record of `autofuse.records` from the named groups of a pattern and constants, for declarative formats."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Type

from autofuse.linear import LinearPattern
from autofuse.records import Position, Record, TemplateId
from autofuse.scan.lines import Line

__all__ = ["NotBuildable", "RecordBuilder"]

_POSITION = ("pid", "tid")
_TEMPLATE = ("graph", "result", "group", "case")
_PAIRS = "Tuple[Tuple[str, str], ...]"
_MAPPING = "Mapping[str, str]"
_WITHOUT_OPERATOR = ("ModelInfoBegin", "ModelInfoEnd", "TilingFailure")
"""Records whose operator is empty where the line does not name it; see their docstrings."""

_Values = Mapping[str, Any]


class NotBuildable(ValueError):
    """Why groups and constants do not make up the record."""


class RecordBuilder:
    """`build` makes a record of `kind`; NotBuildable when the names cannot fill its fields.

    A group or constant is named after the field it fills; `graph`, `result`, `group`, `case` and `sub_case` fill the
    template, `pid` and `tid` the position. A field of names and texts is filled by a group of its name whose text the
    pattern `pairs` takes apart; where a record has free fields (`FinalTiling`), further groups become fields.
    """

    def __init__(
        self,
        kind: Type[Record],
        groups: Sequence[str],
        constants: Mapping[str, Any],
        pairs: Optional[LinearPattern] = None,
    ) -> None:
        self.kind = kind
        self._constants = dict(constants)
        self._pairs = pairs
        names = {*groups, *constants}
        self._free = sorted(names - self._known(kind))
        makers = [(one.name, self._maker(one, names)) for one in fields(kind)]
        self._makers: List[Tuple[str, Callable[[_Values, Line], Any]]] = [(n, m) for n, m in makers if m is not None]
        self._check(kind, names)

    def build(self, groups: Mapping[str, Optional[str]], line: Line) -> Optional[Record]:
        """The record; None when a number is none, or a part that must be there took no part in the match."""
        values = {**self._constants, **{name: text for name, text in groups.items() if text is not None}}
        try:
            return self.kind(**{name: make(values, line) for name, make in self._makers})
        except (KeyError, ValueError):
            return None

    def _maker(self, one: Field[Any], names: set[str]) -> Optional[Callable[[_Values, Line], Any]]:
        name, kind = one.name, str(one.type)
        if kind == "Position":
            return _position
        if kind == "TemplateId" or (kind == "Optional[TemplateId]" and names & set(_TEMPLATE)):
            return _template
        if kind == _MAPPING:
            return self._mapping(name)
        if kind == _PAIRS and name in names:
            return lambda values, line: tuple(self._split(values[name]).items())
        if kind in ("int", "Optional[int]") and name in names:
            return lambda values, line: int(values[name]) if kind == "int" or name in values else None
        if kind in ("str", "Optional[str]") and name in names:
            return lambda values, line: values[name]
        if name == "operator" and self.kind.__name__ in _WITHOUT_OPERATOR:
            return lambda values, line: ""
        return None

    def _mapping(self, name: str) -> Callable[[_Values, Line], Dict[str, str]]:
        def make(values: _Values, line: Line) -> Dict[str, str]:
            found = {free: str(values[free]) for free in self._free if free in values}
            return {**found, **(self._split(values[name]) if name in values else {})}

        return make

    def _split(self, text: str) -> Dict[str, str]:
        found = (match.groupdict() for match in self._pairs.finditer(text)) if self._pairs else iter(())
        return {str(pair["key"]): str(pair["value"]) for pair in found}

    def _check(self, kind: Type[Record], names: set[str]) -> None:
        free = any(str(one.type) == _MAPPING for one in fields(kind))
        if self._free and not free:
            raise NotBuildable(f"{kind.__name__} has no field {self._free[0]}")
        made = {name for name, _ in self._makers}
        for one in fields(kind):
            if one.name not in made and one.default is MISSING and one.default_factory is MISSING:
                raise NotBuildable(f"nothing fills the field {one.name} of {kind.__name__}")
        if "template" in made and not set(_TEMPLATE) <= names:
            raise NotBuildable(f"the template needs {', '.join(sorted(set(_TEMPLATE) - names))}")
        split = {one.name for one in fields(kind) if str(one.type) in (_PAIRS, _MAPPING)} & names
        if bool(split) != bool(self._pairs):
            raise NotBuildable("pairs is needed to take a field of names and texts apart, and only then")
        self._check_constants(kind)

    def _check_constants(self, kind: Type[Record]) -> None:
        whole = {*_TEMPLATE, *_POSITION, *(one.name for one in fields(kind) if "int" in str(one.type))}
        for name, value in self._constants.items():
            wanted = int if name in whole else str
            if not isinstance(value, wanted) or isinstance(value, bool):
                raise NotBuildable(f"the constant {name} must be {'a whole number' if wanted is int else 'a text'}")

    @staticmethod
    def _known(kind: Type[Record]) -> set[str]:
        own = {one.name: str(one.type) for one in fields(kind) if one.name not in ("at", "template")}
        has_template = any(one.name == "template" for one in fields(kind))
        return {*own, *_POSITION, *((*_TEMPLATE, "sub_case") if has_template else ())}


def _position(values: _Values, line: Line) -> Position:
    pid, tid = values.get("pid"), values.get("tid")
    return Position(line.path, line.number, line.pid if pid is None else int(pid), None if tid is None else int(tid))


def _template(values: _Values, line: Line) -> TemplateId:
    graph, result, group, case = (int(values[name]) for name in _TEMPLATE)
    return TemplateId(graph, result, group, case, str(values.get("sub_case", "")))
