"""Compares the records that a parser gives for a sample line with what the sample expects of them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Iterable, List, Mapping, Optional

from autofuse.records import Record
from autofuse.types import FormatSample

__all__ = ["field_of", "sample_problem"]

_MISSING = object()


def sample_problem(sample: FormatSample, records: Iterable[Record]) -> Optional[str]:
    """Why none of the records is the expected one; None when one is."""
    problems: List[str] = []
    for record in records:
        problem = _record_problem(sample, record)
        if problem is None:
            return None
        problems.append(problem)
    return problems[0] if problems else "gives no record"


def field_of(record: Record, name: str) -> Any:
    """A field of a record by its plain name, wherever it stands: in the record, its template, position or mapping.

    KeyError when there is none.
    """
    for holder in (record, getattr(record, "template", None), record.at):
        value = getattr(holder, name, _MISSING) if name.isidentifier() and not name.startswith("_") else _MISSING
        if value is not _MISSING and not callable(value):
            return value
    for one in fields(record):
        content = _as_mapping(getattr(record, one.name))
        if content is not None and name in content:
            return content[name]
    raise KeyError(name)


def _record_problem(sample: FormatSample, record: Record) -> Optional[str]:
    kind = type(record).__name__
    if sample.record and kind != sample.record:
        return f"gives {kind} where {sample.record} is expected"
    for name, expected in sample.fields.items():
        try:
            found = field_of(record, name)
        except KeyError:
            return f"gives {kind} without a field {name}"
        if not _equal(found, expected):
            return f"gives {kind} with {name} = {found!r} where {expected!r} is expected"
    return None


def _equal(found: Any, expected: Any) -> bool:
    content = _as_mapping(found)
    wanted = _as_mapping(expected)
    if content is not None and wanted is not None:
        return content == wanted
    # True is 1 in Python, but no case id.
    return bool(found == expected) and isinstance(found, bool) == isinstance(expected, bool)


def _as_mapping(value: Any) -> Optional[Mapping[Any, Any]]:
    """Pairs of names and texts stand for a mapping: `(("s0", "1024"), …)`."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, tuple) and value and all(_is_pair(item) for item in value):
        return dict(value)
    return None


def _is_pair(item: Any) -> bool:
    return isinstance(item, tuple) and len(item) == 2
