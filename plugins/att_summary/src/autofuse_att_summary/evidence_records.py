"""Evidence: one JSON object per template of an invocation and per FINAL_TILING record, as text with sorted keys.

Numbers keep the digits of the log, so integers of any size are exact; nan and the infinities are strings.
"""

from __future__ import annotations

import json
import math
import os
import re
from functools import lru_cache
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

from autofuse_att_summary.final_tiling import FinalRecord, decode_finals
from autofuse_att_summary.model import Invocation, Template, is_pipe, parse_status
from autofuse_att_summary.rows import bottleneck

__all__ = ["SCHEMA_VERSION", "final_objects", "strict", "template_objects"]

SCHEMA_VERSION = "att-evidence/v1"

_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\Z", re.ASCII)


def template_objects(invocation: Invocation) -> Iterator[str]:
    """One line of JSON per template that the invocation names, in the order of their first lines."""
    common = _Common(invocation)
    for template in sorted(invocation.templates.values(), key=lambda template: template.first_line):
        yield common.template(template)


def final_objects(invocation: Invocation) -> Iterator[str]:
    """One line of JSON per FINAL_TILING record and summary of the invocation, damaged ones with their status."""
    for record in decode_finals(invocation.finals, invocation.operator):
        yield json.dumps(strict(_final(invocation, record)), sort_keys=True, ensure_ascii=False, allow_nan=False)


def strict(value: Any) -> Any:
    """The value with nan and infinities as the strings "NaN", "Infinity" and "-Infinity", at any depth."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if value != value else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, dict):
        return {key: strict(item) for key, item in value.items()}
    return [strict(item) for item in value] if isinstance(value, list) else value


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

    def _status(self, template: Template, chosen: bool) -> str:
        graph, result, group = template.key[:3]
        if chosen:
            return parse_status(self.invocation, graph, result, group)
        return "candidate" if (graph, result, group) in self.invocation.choices else "missing_group_case"


def _final(invocation: Invocation, record: FinalRecord) -> Dict[str, Any]:
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
        "source_path": os.path.abspath(record.path),
        "source_line": record.line,
        "invocation": invocation.ordinal,
        "input_shape": {name: _plain(value) for name, value in invocation.shape.items()},
        "pid": invocation.run.process.pid,
        "tid": invocation.tid,
    }
    if record.summary:
        return {**found, "groups": record.payload_value}
    return {**found, **_final_template(record)}


def _final_template(record: FinalRecord) -> Dict[str, Any]:
    fields = record.fields
    estimates = record.pipe_estimates
    return {
        "group_id": record.ids.get("group"),
        "case_id": record.ids.get("case_id"),
        "sub_case": record.sub_case,
        "sub_case_tag": fields.get("sub_case_tag"),
        "tiling_key": record.ids.get("tiling_key"),
        "score": record.ids.get("score"),
        "template_name": fields.get("template"),
        "pipe_est": None if estimates is None else {k: None if v is None else _plain(v) for k, v in estimates.items()},
        "tiling_repr": record.payload_value,
        "repr_kind": fields.get("repr_kind"),
        "repr_hash": record.payload_hash,
    }


def _values(template: Template) -> Tuple[str, str, str, str]:
    """tiling_values, pipes and source_lines as JSON objects, and the objective."""
    values: Dict[str, str] = {}
    lines: Dict[str, int] = {}
    objective = "null"
    for names, texts, where in template.chunks:
        for name, text, line in zip(_names(names), texts.decode("utf-8", "replace").split("\n"), where):
            if name:
                values[name] = _number(text)
                lines[name] = line
            else:
                objective = _number(text)
                lines["objective"] = line
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
    return json.dumps(os.path.abspath(path), ensure_ascii=False)


def _object(items: Mapping[str, object]) -> str:
    return "{" + ", ".join([f"{_text(name)}: {items[name]}" for name in sorted(items)]) + "}"


def _number(text: str) -> str:
    """A JSON number with the logged digits, or the string that stands for nan or an infinity."""
    if _JSON_NUMBER.match(text):
        return text
    value = _plain(text)
    return json.dumps(strict(value), ensure_ascii=False)


def _plain(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def _optional(value: Optional[int]) -> str:
    return "null" if value is None else str(value)


def _optional_number(value: Optional[str]) -> str:
    return "null" if value is None else _number(value)


def _optional_text(value: Optional[str]) -> str:
    return "null" if value is None else _text(value)
