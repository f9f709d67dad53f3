"""Evidence: one JSON object per template of an invocation and per FINAL_TILING record, as text with sorted keys.

Numbers keep the digits of the log, so integers of any size are exact; nan and the infinities are strings.
"""

from __future__ import annotations

import json
import os
import re
from decimal import Decimal
from functools import lru_cache
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

from autofuse_att_summary.exact import exact
from autofuse_att_summary.final_tiling import FinalRecord, RawNumber, decode_finals
from autofuse_att_summary.model import Invocation, Template, is_pipe, parse_status
from autofuse_att_summary.rows import bottleneck

__all__ = ["SCHEMA_VERSION", "STDIN", "final_objects", "template_objects"]

SCHEMA_VERSION = "att-evidence/v1"
STDIN = "-"
"""How standard input is named where others have an absolute path."""

_LONGEST_INTEGER = 4000
"""Digits; readers of JSON refuse longer ones (Python beyond 4300), but not when they have an exponent."""
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\Z", re.ASCII)


def template_objects(invocation: Invocation) -> Iterator[str]:
    """One line of JSON per template that the invocation names, in the order in which it first names them."""
    common = _Common(invocation)
    for template in invocation.templates.values():
        yield common.template(template)


def final_objects(invocation: Invocation) -> Iterator[str]:
    """One line of JSON per FINAL_TILING record and summary of the invocation, damaged ones with their status."""
    if invocation.finals:
        common = _Common(invocation)
        for record in decode_finals(invocation.finals, invocation.operator):
            yield common.final(record)


class _Common:
    """What all templates of an invocation share, written once."""

    def __init__(self, invocation: Invocation) -> None:
        self.invocation = invocation
        self.operator = _text(invocation.operator)
        self.ordinal = invocation.ordinal
        self.shape = _object({name: _number(value) for name, value in invocation.shape.items()})
        self.pid = _optional(invocation.run.process.pid)
        self.tid = _optional(invocation.tid)

    def template(self, template: Template) -> str:
        """The object's keys stand in sorted order."""
        invocation = self.invocation
        graph, result, group, case, sub_case = template.key
        chosen = invocation.choices.get((graph, result, group)) == template.key
        selected = chosen and invocation.results.get(graph, result) == result
        values, pipes, lines, objective = _values(template)
        return (
            f'{{"bottleneck_pipe": {_optional_text(bottleneck(template))}, "case_id": {case}, "graph_id": {graph}, '
            f'"group_id": {group}, "input_shape": {self.shape}, "invocation": {self.ordinal}, '
            f'"objective": {objective}, "operator": {self.operator}, '
            f'"parse_status": "{self._status(template, chosen)}", "pid": {self.pid}, "pipes": {pipes}, '
            f'"record_type": "template", "result_id": {result}, '
            f'"result_performance": {_optional_number(invocation.performance(graph, result))}, '
            f'"schema_version": "{SCHEMA_VERSION}", "score": {_optional(template.score)}, '
            f'"selected": {"true" if selected else "false"}, "source_line": {template.first_line}, '
            f'"source_lines": {lines}, "source_path": {_absolute(template.path)}, "sub_case": {_text(sub_case)}, '
            f'"tid": {self.tid}, "tiling_values": {values}}}'
        )

    def final(self, record: FinalRecord) -> str:
        """Whatever was read of a FINAL_TILING record."""
        fields = record.fields
        found: Dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "record_type": "final_tiling_summary" if record.summary else "final_tiling",
            "operator": record.operator,
            "graph_id": record.ids.get("graph"),
            "result_id": record.ids.get("result"),
            "source": fields.get("source"),
            "selection_mode": fields.get("selection_mode"),
            "parse_status": record.status,
            "source_line": record.line,
            "invocation": self.ordinal,
            **({"groups": record.payload_value} if record.summary else _final_template(record)),
        }
        known = {"input_shape": self.shape, "pid": self.pid, "tid": self.tid, "source_path": _absolute(record.path)}
        return _object({**{name: _json(value) for name, value in found.items()}, **known})

    def _status(self, template: Template, chosen: bool) -> str:
        graph, result, group = template.key[:3]
        if chosen:
            return parse_status(self.invocation, graph, result, group)
        return "candidate" if (graph, result, group) in self.invocation.choices else "missing_group_case"


def _final_template(record: FinalRecord) -> Dict[str, Any]:
    fields = record.fields
    return {
        "group_id": record.ids.get("group"),
        "case_id": record.ids.get("case_id"),
        "sub_case": record.sub_case,
        "sub_case_tag": fields.get("sub_case_tag"),
        "tiling_key": record.ids.get("tiling_key"),
        "score": record.ids.get("score"),
        "template_name": fields.get("template"),
        "pipe_est": record.pipe_estimates,
        "tiling_repr": record.payload_value,
        "repr_kind": fields.get("repr_kind"),
        "repr_hash": record.payload_hash,
    }


def _values(template: Template) -> Tuple[str, str, str, str]:
    """tiling_values, pipes and source_lines as JSON objects, and the objective."""
    values: Dict[str, str] = {}
    lines: Dict[str, str] = {}
    objective = "null"
    for names, texts, where in template.chunks:
        for name, text, line in zip(_names(names), texts.decode("utf-8", "replace").split("\n"), where):
            if name:
                values[name] = _number(text)
                lines[name] = str(line)
            else:
                objective = _number(text)
                lines["objective"] = str(line)
    pipes = {name: value for name, value in values.items() if is_pipe(name)}
    return _object(values), _object(pipes), _object(lines), objective


@lru_cache(maxsize=4096)
def _names(names: bytes) -> List[str]:
    return names.decode("utf-8", "replace").split("\n")


@lru_cache(maxsize=4096)
def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@lru_cache(maxsize=256)
def _absolute(path: str) -> str:
    return _text(path if path == STDIN else os.path.abspath(path))


def _object(items: Mapping[str, str]) -> str:
    return "{" + ", ".join([f"{_text(name)}: {items[name]}" for name in sorted(items)]) + "}"


def _json(value: Any) -> str:
    """Any value with sorted keys; a RawNumber keeps its digits."""
    if isinstance(value, RawNumber):
        return _number(value)
    if isinstance(value, dict):
        return _object({name: _json(item) for name, item in value.items()})
    if isinstance(value, list):
        return "[" + ", ".join([_json(item) for item in value]) + "]"
    return json.dumps(value, ensure_ascii=False)


def _number(text: str) -> str:
    """A JSON number with the logged digits, or the string for nan or an infinity; any other text as a string."""
    if _JSON_NUMBER.match(text):
        long = len(text) > _LONGEST_INTEGER and text.lstrip("-").isdigit()
        return format(Decimal(text), "E") if long else str(text)
    value = exact(text)
    if value is None:
        return _text(text)
    if value.is_finite():
        return str(value)
    return '"NaN"' if value.is_nan() else ('"Infinity"' if value > 0 else '"-Infinity"')


def _optional(value: Optional[int]) -> str:
    return "null" if value is None else str(value)


def _optional_number(value: Optional[str]) -> str:
    return "null" if value is None else _number(value)


def _optional_text(value: Optional[str]) -> str:
    return "null" if value is None else _text(value)
