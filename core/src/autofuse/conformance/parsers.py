"""Checks of record parsers: the samples give their records, and no cut or hostile variant of them stops the parser."""

from __future__ import annotations

from functools import partial
from typing import Any, Iterable, Iterator, List, Sequence

from autofuse.conformance.check import Check, Failed, attempt
from autofuse.records import Position, Record
from autofuse.samples import sample_problem
from autofuse.scan.lines import LineBatch
from autofuse.scan.scanner import compile_markers
from autofuse.types import FormatSample, ParserSpec

__all__ = ["check_parser"]

_PATH = "sample.log"
_FILLER = b"a line of another program"
_LONG = 100_000


def check_parser(spec: ParserSpec, parser: Any) -> Iterator[Check]:
    """All checks of one parser."""
    subject = f"record parser {spec.name}"
    yield from _coverage(subject, spec)
    for number, sample in enumerate(spec.samples, 1):
        yield from attempt(subject, f"sample {number} gives its record", partial(_sample, spec, parser, sample))
    yield from attempt(subject, "a batch without lines gives no record", lambda: _nothing(spec, parser))
    yield from attempt(subject, "batches give what their lines give alone", lambda: _without_state(spec, parser))
    for name, texts in _variants(spec):
        yield from attempt(subject, f"{name} do no harm", partial(_survives, spec, parser, texts))


def batch_of(lines: Sequence[bytes], markers: Sequence[bytes], path: str) -> LineBatch:
    """The batch that the scanner would give for these lines."""
    block = b"".join(line + b"\n" for line in lines)
    scanner = compile_markers(markers)
    rows = scanner.scan(block, 0, len(block), 1)
    return LineBatch(path, (path,), None, block, rows, scanner.markers, 0, len(block))


def _coverage(subject: str, spec: ParserSpec) -> Iterator[Check]:
    texts = [sample.text.encode() for sample in spec.samples]
    for number, text in enumerate(texts, 1):
        if not any(marker in text for marker in spec.markers):
            yield Check("failed", subject, f"sample {number} holds no marker, so no parser ever gets it")
    unused = [marker.decode("utf-8", "replace") for marker in spec.markers if not any(marker in t for t in texts)]
    if unused:
        yield Check("note", subject, f"no sample holds {', '.join(map(repr, unused))}")
    else:
        yield Check("ok", subject, "every marker occurs in a sample")


def _sample(spec: ParserSpec, parser: Any, sample: FormatSample) -> None:
    records = _parse(spec, parser, [_FILLER, _FILLER, sample.text.encode()])
    problem = sample_problem(sample, records)
    if problem:
        raise Failed(f"{sample.text!r} {problem}")
    for record in records:
        if record.at.line != 3 or record.at.path != _PATH:
            raise Failed(f"the record is said to stand at {record.at.path}:{record.at.line}, it stands at {_PATH}:3")


def _nothing(spec: ParserSpec, parser: Any) -> None:
    if _parse(spec, parser, [_FILLER]):
        raise Failed("it gives a record")


def _without_state(spec: ParserSpec, parser: Any) -> None:
    lines = [sample.text.encode() for sample in spec.samples]
    together = _parse(spec, parser, lines * 2)
    alone = [_parse(spec, parser, [_FILLER] * number + [line]) for number, line in enumerate(lines * 2)]
    if together != [record for records in alone for record in records]:
        raise Failed("the records of a line depend on the batch it stands in")


def _variants(spec: ParserSpec) -> Iterator[tuple[str, List[bytes]]]:
    """What logs hold beside whole lines: cut, garbled, repeated and very long ones."""
    texts = [sample.text.encode() for sample in spec.samples]
    yield "cut lines", [text[:end] for text in texts for end in range(0, len(text), max(1, len(text) // 200))]
    yield "lines cut at their begin", [text[begin:] for text in texts for begin in range(0, len(text), 3)]
    garbage = (b"\x00", b"\xff\xfe", b"\x1b[31m", b"\xe5\x9b", b"[", b"]", b'"', b"\\", b"%s", b"\r")
    yield (
        "lines with stray bytes",
        [text[:at] + stray + text[at:] for text in texts for stray in garbage for at in range(0, len(text), 7)],
    )
    yield "numbers of thousands of digits", [_with_digits(text, b"9" * 5000) for text in texts]
    yield (
        "negative and odd numbers",
        [_with_digits(text, odd) for text in texts for odd in (b"-1", b"1e400", b"nan", "٣".encode(), b"")],
    )
    yield "lines repeated within one line", [text * 50 for text in texts]
    for filling in (b" ", b"0", b"[", b"=", b"a ", b"\xff"):
        yield (
            f"lines with {_LONG} times {filling!r}",
            [
                variant
                for text in texts
                for variant in (text + filling * _LONG, text[: len(text) // 2] + filling * _LONG)
            ],
        )


def _with_digits(text: bytes, number: bytes) -> bytes:
    import re

    return re.sub(rb"\d+", lambda match: number, text)


def _survives(spec: ParserSpec, parser: Any, lines: Sequence[bytes]) -> None:
    _parse(spec, parser, lines)


def _parse(spec: ParserSpec, parser: Any, lines: Sequence[bytes]) -> List[Record]:
    batch = batch_of(lines, spec.markers, _PATH)
    found: Iterable[Any] = parser(batch)
    if not isinstance(found, Iterable):
        raise Failed(f"it gives {type(found).__name__} where records are expected")
    records = list(found)
    for record in records:
        _check_record(spec, record)
    return records


def _check_record(spec: ParserSpec, record: Any) -> None:
    if not isinstance(record, spec.records):
        known = ", ".join(kind.__name__ for kind in spec.records)
        raise Failed(f"it gives {type(record).__name__}; the spec names {known}")
    if not isinstance(record.operator, str) or not isinstance(record.at, Position):
        raise Failed(f"{type(record).__name__} with operator {record.operator!r} at {record.at!r}")
