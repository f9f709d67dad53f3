"""Log formats as data: turns a file `NAME.format.toml` into a parser spec, without a line of the vendor's code.

The file names the markers, and for each kind of record a pattern with named groups and sample lines; the grammar is in
docs/reference/format-files.md. Where such files are found is the host's matter.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, Type

from autofuse import records
from autofuse.config import read_toml
from autofuse.errors import AutofuseError
from autofuse.formats import SUFFIX
from autofuse.linear import LinearPattern, NotLinear, compile_linear
from autofuse.records import Record
from autofuse.rules import NotBuildable, RecordBuilder
from autofuse.samples import sample_problem
from autofuse.scan.lines import Line, LineBatch
from autofuse.types import FormatSample, ParserSpec

__all__ = ["DeclarativeParser", "DeclarativeSpec", "read_format"]

_SIZE_LIMIT = 1 << 20


@dataclass(frozen=True)
class DeclarativeSpec(ParserSpec):
    """A parser spec whose parser was made from a file."""

    path: str = ""
    parser: Optional[DeclarativeParser] = field(default=None, compare=False, repr=False)

    def load(self) -> Any:
        """The parser."""
        return self.parser


class DeclarativeParser:
    """Called with a batch, gives one record for each line that a rule matches; of several rules the first counts."""

    def __init__(self, path: str, rules: Tuple[Rule, ...]) -> None:
        self.path = path
        self.rules = rules

    def __call__(self, batch: LineBatch) -> Iterator[Record]:
        for line in batch:
            record = self.parse(line)
            if record is not None:
                yield record

    def parse(self, line: Line) -> Optional[Record]:
        """The record of one line; None when it is none of this format."""
        for rule in self.rules:
            found = rule.pattern.search(line.text)
            if found is not None:
                record = rule.builder.build(found.groupdict(), line)
                if record is not None:
                    return record
        return None

    def __reduce__(self) -> Tuple[Any, Tuple[str]]:
        # Patterns of re2 do not pickle.
        return _parser_of, (self.path,)


@dataclass(frozen=True)
class Rule:
    """One `[[record]]` of the file."""

    pattern: LinearPattern
    builder: RecordBuilder
    samples: Tuple[FormatSample, ...]


def read_format(path: str) -> DeclarativeSpec:
    """The spec of a format file, its samples checked; AutofuseError that says what is wrong with the file."""
    if not os.path.isfile(path) or os.path.getsize(path) > _SIZE_LIMIT:
        raise AutofuseError(f"is no file of at most {_SIZE_LIMIT} bytes", path)
    name = os.path.basename(path)[: -len(SUFFIX)]
    if not re.fullmatch(r"[0-9A-Za-z][\w.+-]*", name):
        raise AutofuseError("the file's name is no word", path)
    spec = _Reader(path, read_toml(path)).spec(name)
    _check_samples(spec)
    return spec


def _parser_of(path: str) -> DeclarativeParser:
    parser = read_format(path).parser
    assert parser is not None
    return parser


def _check_samples(spec: DeclarativeSpec) -> None:
    parser, markers = spec.parser, [marker.decode() for marker in spec.markers]
    for sample in spec.samples:
        quoted = repr(sample.text[:60])
        if not any(marker in sample.text for marker in markers):
            raise AutofuseError(f"the sample {quoted} holds no marker", spec.path)
        record = parser.parse(Line(spec.path, 1, sample.text, b"")) if parser else None
        problem = sample_problem(sample, [record] if record else [])
        if problem:
            raise AutofuseError(f"the sample {quoted} {problem}", spec.path)


class _Reader:
    """Takes the content of a file apart; every key is checked."""

    def __init__(self, path: str, content: Mapping[str, Any]) -> None:
        self.path = path
        self.content = content

    def spec(self, name: str) -> DeclarativeSpec:
        """The whole file."""
        self.only(self.content, ("summary", "markers", "record"), "")
        markers = self.strings(self.content, "markers", "")
        tables = self.tables(self.content, "record", "")
        rules = tuple(self.rule(table, f"record {number}: ") for number, table in enumerate(tables, 1))
        return DeclarativeSpec(
            name,
            self.text(self.content, "summary", "", f"Lines described by {os.path.basename(self.path)}"),
            "autofuse.declarative:read_format",
            markers=tuple(marker.encode() for marker in markers),
            records=tuple(dict.fromkeys(rule.builder.kind for rule in rules)),
            samples=tuple(sample for rule in rules for sample in rule.samples),
            path=self.path,
            parser=DeclarativeParser(self.path, rules),
        )

    def rule(self, table: Mapping[str, Any], where: str) -> Rule:
        """One `[[record]]`."""
        self.only(table, ("type", "pattern", "pairs", "constants", "sample"), where)
        kind = self.kind(self.text(table, "type", where), where)
        pattern, groups = self.pattern(table, "pattern", where)
        pairs = self.pattern(table, "pairs", where) if "pairs" in table else None
        if pairs and sorted(pairs[1]) != ["key", "value"]:
            raise self.error(where, "pairs must have the groups key and value, and no other")
        constants = self.table(table, "constants", where)
        try:
            builder = RecordBuilder(kind, groups, constants, pairs[0] if pairs else None)
        except NotBuildable as error:
            raise self.error(where, str(error)) from None
        samples = tuple(self.sample(one, where, kind) for one in self.tables(table, "sample", where))
        return Rule(pattern, builder, samples)

    def sample(self, table: Mapping[str, Any], where: str, kind: Type[Record]) -> FormatSample:
        """One `[[record.sample]]`."""
        self.only(table, ("text", "fields"), f"{where}sample: ")
        fields = self.table(table, "fields", f"{where}sample: ")
        if not fields:
            raise self.error(where, "sample: fields is missing; name what the record must hold")
        return FormatSample(self.text(table, "text", f"{where}sample: "), fields, kind.__name__)

    def kind(self, name: str, where: str) -> Type[Record]:
        """A record type by name."""
        found = getattr(records, name, None) if name in records.__all__ else None
        if not (isinstance(found, type) and issubclass(found, Record)) or found is Record:
            known = [n for n in records.__all__ if n not in ("Record", "Position", "TemplateId")]
            raise self.error(where, f"unknown record type {name!r}; known: {', '.join(known)}")
        return found

    def pattern(self, table: Mapping[str, Any], key: str, where: str) -> Tuple[LinearPattern, Tuple[str, ...]]:
        """A pattern that runs in linear time, and its named groups."""
        try:
            return compile_linear(self.text(table, key, where))
        except NotLinear as error:
            raise self.error(where, f"{key}: {error}") from None
        except re.error as error:
            raise self.error(where, f"{key} is no regular expression: {error}") from None

    def text(self, table: Mapping[str, Any], key: str, where: str, default: Optional[str] = None) -> str:
        """A text that is not empty."""
        value = table.get(key, default)
        if not isinstance(value, str) or not value or "\n" in value:
            raise self.error(where, f"{key} must be one line of text" if key in table else f"{key} is missing")
        return value

    def strings(self, table: Mapping[str, Any], key: str, where: str) -> List[str]:
        """A list of texts, at least one."""
        value = table.get(key)
        if not isinstance(value, list) or not value or not all(isinstance(v, str) and v.strip() for v in value):
            raise self.error(where, f"{key} must be a list of texts, at least one")
        return value

    def table(self, table: Mapping[str, Any], key: str, where: str) -> Dict[str, Any]:
        """A table, empty when it is not there."""
        value = table.get(key, {})
        if not isinstance(value, dict):
            raise self.error(where, f"{key} must be a table")
        return value

    def tables(self, table: Mapping[str, Any], key: str, where: str) -> List[Mapping[str, Any]]:
        """A list of tables, at least one."""
        value = table.get(key)
        if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
            raise self.error(where, f"at least one [[{'record.' if where else ''}{key}]] is needed")
        return value

    def only(self, table: Mapping[str, Any], known: Tuple[str, ...], where: str) -> None:
        """Refuses keys that nothing reads: most likely mistyped."""
        for key in table:
            if key not in known:
                raise self.error(where, f"unknown key {key}; known: {', '.join(known)}")

    def error(self, where: str, what: str) -> AutofuseError:
        """The one line of an error."""
        return AutofuseError(f"{where}{what}", self.path)
