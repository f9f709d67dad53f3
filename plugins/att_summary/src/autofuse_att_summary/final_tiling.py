"""FINAL_TILING records: the tiling data that the runtime wrote, single line or framed, checked to the last byte.

Lines of one invocation go in, in order; records come out, each with its status. A damaged record keeps whatever
identity was read and never a representation. Formats: `EmitFinalTilingLines` of the newest producers, and the older
unquoted one.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Set, Tuple

from autofuse import types

from autofuse_att_summary.model import Final, FinalLine, TemplateKey

__all__ = ["FinalRecord", "RawNumber", "decode_finals", "final_key", "mix64", "unescape"]

PIPE_NAMES = {"M2": "AIV_MTE2", "M3": "AIV_MTE3", "V": "AIV_VEC"}
"""Short pipe names of the runtime and what they stand for."""

_TAG = re.compile(rb"\[(FINAL_TILING(_SUMMARY)?(?:_(BEGIN|CHUNK|END))?)\]")
_FIELD = re.compile(rb"\s*([A-Za-z_]\w*)=(?:\"((?:[^\"\\]|\\.)*)\"(?=\s|$)|([^\s\"]\S*|(?=\s|$)))", re.DOTALL)
_ESCAPE = re.compile(rb"\\([\\\"nrt])")
_PLAIN = {b"\\": b"\\", b'"': b'"', b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_NATURAL = re.compile(r"[0-9]{1,20}\Z", re.ASCII)
_INTEGER = re.compile(r"-?[0-9]{1,20}\Z", re.ASCII)
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_DEEPEST = 100
"""Levels of JSON that are parsed."""
_IDENTITY = ("graph", "result", "group", "case_id", "tiling_key")
_MASK = (1 << 64) - 1


class RawNumber(str):
    """A JSON number with its digits as they were written."""

    __slots__ = ()


@dataclass
class FinalRecord:
    """One FINAL_TILING or FINAL_TILING_SUMMARY record as far as it could be read; absent parts are None."""

    path: str
    line: int
    operator: Optional[str]
    summary: bool = False
    status: str = "ok"
    fields: Mapping[str, str] = field(default_factory=dict)
    """Every key=value pair, decoded; unknown keys too."""
    ids: Dict[str, Optional[int]] = field(default_factory=dict)
    """graph, result, group, case_id, tiling_key and score, where they are numbers."""
    pipe_estimates: Optional[Dict[str, Optional[RawNumber]]] = None
    """Full pipe name → modelled cycles as logged; None for null."""
    payload: Optional[str] = None
    """The representation (or the groups of a summary), verbatim; None unless the record is complete and valid."""
    payload_hash: Optional[str] = None
    """As logged, for framed records."""

    @property
    def sub_case(self) -> str:
        """Tag of the sub-case."""
        return self.fields.get("sub_case_tag", "")

    @property
    def payload_value(self) -> Any:
        """The parsed payload, its numbers as RawNumber, when it is plain JSON; else its text."""
        if self.payload is None:
            return None
        try:
            return _parse_json(self.payload)
        except ValueError:
            return self.payload


def decode_finals(lines: Sequence[Final], operator: str) -> List[FinalRecord]:
    """The records of one invocation, in the order of their first lines, with duplicates marked."""
    records = _Decoder(operator).decode(lines)
    _mark_duplicates(records)
    return records


def final_key(line: bytes, frames: Dict[bytes, TemplateKey]) -> Optional[TemplateKey]:
    """The template of a FINAL_TILING line; a chunk goes with the BEGIN of its id, which `frames` remembers."""
    tag = _TAG.match(line)
    if tag is None:
        return None
    fields, _ = _fields(line, tag.end())
    frame = fields.get("id", b"")
    key = _template_key(fields) or frames.get(frame)
    if key is not None and frame:
        frames[frame] = key
    return key


def _template_key(fields: Dict[str, bytes]) -> Optional[TemplateKey]:
    texts = [fields.get(name, b"").decode("ascii", "replace") for name in ("graph", "result", "group", "case_id")]
    if not all(_NATURAL.match(text) for text in texts):
        return None
    graph, result, group, case = (int(text) for text in texts)
    tag = fields.get("sub_case_tag", b"").decode("ascii", "replace")
    # The tag becomes part of a file name.
    return (graph, result, group, case, tag) if re.fullmatch(r"[A-Za-z]{0,16}", tag) else None


def unescape(text: bytes) -> bytes:
    """Decodes the escapes of a quoted value, left to right in one pass; any other backslash stays."""
    return _ESCAPE.sub(lambda match: _PLAIN[match.group(1)], text) if b"\\" in text else text


def mix64(data: bytes) -> str:
    """The hash `att_mix64_v1` as 16 hexadecimal digits."""
    try:
        from autofuse_att_summary import _att
    except ImportError:
        return f"{_mix64(data):016x}"
    return f"{_att.mix64(data):016x}"


def _mix64(data: bytes) -> int:
    h = 0x6D2B79F5
    for byte in data:
        h ^= (byte + 0x9E3779B9 + (h << 6) + (h >> 2)) & _MASK
        h &= _MASK
        h = ((h << 13) | (h >> 51)) & _MASK
    return h


_HASHES: Dict[str, Callable[[bytes], str]] = {
    "att_mix64_v1": mix64,
    "sha256": lambda data: hashlib.sha256(data).hexdigest(),
}


@dataclass
class _Frame:
    """A framed record that is being collected."""

    record: FinalRecord
    begin: Dict[str, bytes]
    chunks: List[bytes] = field(default_factory=list)
    damaged: bool = False

    def payload(self, end: Dict[str, bytes]) -> Optional[bytes]:
        """The whole payload when order, count, length and hash agree with both ends of the frame."""
        data = b"".join(self.chunks)
        algorithm = self.begin.get("hash_alg", b"sha256")
        check = _HASHES.get(algorithm.decode("ascii", "replace"))
        if self.damaged or check is None or any(self.begin.get(k) != end.get(k) for k in _FRAME_KEYS):
            return None
        expected = (str(len(self.chunks)), str(len(data)), check(data))
        found = tuple(self.begin.get(key, b"").decode("ascii", "replace").lower() for key in ("chunks", "len", "hash"))
        return data if found == expected else None


_FRAME_KEYS = ("id", "chunks", "len", "hash_alg", "hash")


class _Decoder:
    """Collects the frames of one invocation; several may be open at once under different ids."""

    def __init__(self, operator: str) -> None:
        self.operator = operator
        self.records: List[FinalRecord] = []
        self.open: Dict[Tuple[bool, bytes], _Frame] = {}
        self.nameless: List[_Frame] = []
        """Frames whose BEGIN was cut before the id."""
        self.ended: Dict[Tuple[bool, bytes], Dict[str, bytes]] = {}
        """The END of each frame that was closed, so that a doubled END line is not taken for a frame of its own."""

    def decode(self, lines: Iterable[Final]) -> List[FinalRecord]:
        for line in lines:
            if isinstance(line, FinalLine):
                self._line(line)
            else:
                self.records.append(_of_typed(line))
        for frame in (*self.open.values(), *self.nameless):
            _damage(frame.record)
        return self.records

    def _line(self, line: FinalLine) -> None:
        tag = _TAG.match(line.text)
        if tag is None:
            self._add(line, {}, False, whole=False)
            return
        fields, whole = _fields(line.text, tag.end())
        summary = tag.group(2) is not None
        step = tag.group(3)
        if step is None:
            self._single(line, fields, summary, whole)
        elif step == b"BEGIN":
            self._begin(line, fields, summary, whole)
        elif step == b"CHUNK":
            self._chunk(self._frame(line, fields, summary), fields, whole)
        elif self.ended.get((summary, fields.get("id", b""))) != fields:
            self._end(self._frame(line, fields, summary), fields, summary, whole)

    def _single(self, line: FinalLine, fields: Dict[str, bytes], summary: bool, whole: bool) -> None:
        payload = fields.get("groups" if summary else "tiling_repr")
        # Of a cut line a last value without quotes may have lost its end.
        whole = whole and not (line.cut and not line.text.endswith(b'"'))
        record = self._add(line, fields, summary, whole and payload is not None)
        if record.status == "ok" and payload is not None:
            _complete(record, payload)

    def _begin(self, line: FinalLine, fields: Dict[str, bytes], summary: bool, whole: bool) -> None:
        frame = _Frame(self._add(line, fields, summary, whole=True), fields, damaged=not whole)
        if "id" not in fields:
            self.nameless.append(frame)
            return
        key = (summary, fields["id"])
        older = self.open.pop(key, None)
        if older is not None and older.begin == fields and not older.chunks:
            self.records.remove(older.record)  # the same line twice
        elif older is not None:
            _damage(older.record)
        self.ended.pop(key, None)
        self.open[key] = frame

    def _frame(self, line: FinalLine, fields: Dict[str, bytes], summary: bool) -> _Frame:
        """The open frame of this id; without one, a frame whose BEGIN is lost: it can only end up incomplete."""
        key = (summary, fields.get("id", b""))
        frame = self.open.get(key)
        if frame is None:
            frame = self.nameless.pop(0) if self.nameless else _Frame(self._add(line, {}, summary, True), {})
            frame.damaged = True
            self.open[key] = frame
        return frame

    def _chunk(self, frame: _Frame, fields: Dict[str, bytes], whole: bool) -> None:
        in_order = fields.get("seq") == str(len(frame.chunks)).encode()
        if not (whole and in_order and "data" in fields):
            frame.damaged = True
        frame.chunks.append(fields.get("data", b""))

    def _end(self, frame: _Frame, fields: Dict[str, bytes], summary: bool, whole: bool) -> None:
        key = (summary, fields.get("id", b""))
        self.open.pop(key, None)
        self.ended[key] = fields
        payload = frame.payload(fields) if whole else None
        record = frame.record
        record.payload_hash = frame.begin["hash"].decode("ascii", "replace") if "hash" in frame.begin else None
        if payload is None:
            _damage(record)
        elif record.status == "ok":
            _complete(record, payload)

    def _add(self, line: FinalLine, fields: Dict[str, bytes], summary: bool, whole: bool) -> FinalRecord:
        texts = {key: value.decode("utf-8", "replace") for key, value in fields.items()}
        record = FinalRecord(line.path, line.line, texts.get("operator", self.operator), summary, fields=texts)
        _read_identity(record)
        if not whole:
            _damage(record)
        self.records.append(record)
        return record


def _fields(text: bytes, at: int) -> Tuple[Dict[str, bytes], bool]:
    """The key=value pairs, and whether the line is well-formed to its end."""
    fields: Dict[str, bytes] = {}
    end = len(text)
    while at < end:
        match = _FIELD.match(text, at)
        if match is None:
            return fields, not text[at:].strip()
        key = match.group(1).decode()
        fields.setdefault(key, match.group(3) if match.group(2) is None else unescape(match.group(2)))
        at = match.end()
    return fields, True


def _read_identity(record: FinalRecord) -> None:
    names = ("graph", "result") if record.summary else (*_IDENTITY, "score")
    for name in names:
        text = record.fields.get(name)
        if text is not None and _INTEGER.match(text):
            record.ids[name] = int(text)


def _parse_json(text: str) -> Any:
    """The value with its numbers as RawNumber.

    ValueError when it is none, when an object has a key twice (one of its values would be lost), or when it is nested
    deeper than any tiling data: what recurses through it later shall not have to care.
    """
    if text.count("[") + text.count("{") > _DEEPEST and _depth(text) > _DEEPEST:
        raise ValueError("nested too deeply")
    return json.loads(
        text, parse_float=RawNumber, parse_int=RawNumber, parse_constant=_reject, object_pairs_hook=_unique
    )


def _depth(text: str) -> int:
    depth = deepest = 0
    for match in _BRACKET.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match.group(), 0)
        deepest = max(deepest, depth)
    return deepest


def _unique(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _complete(record: FinalRecord, payload: bytes) -> None:
    """Gives a whole record its payload, or calls it invalid."""
    problem = _problem_of_summary(record, payload) if record.summary else _problem_of_template(record)
    if problem:
        record.status = _status(record, "invalid")
        record.pipe_estimates = None
    elif record.summary or record.fields.get("repr_kind") != "unavailable":
        record.payload = payload.decode("utf-8", "replace")


def _problem_of_template(record: FinalRecord) -> bool:
    fields = record.fields
    if fields.get("schema") != "1" or "operator" not in fields:
        return True
    if not all(_NATURAL.match(fields.get(name, "")) for name in _IDENTITY):
        return True
    if "score" in fields and "score" not in record.ids:
        return True
    if fields.get("repr_kind", "full_json") not in ("full_json", "unavailable"):
        return True
    if "pipe_estimates" in fields:
        record.pipe_estimates = _estimates(fields["pipe_estimates"])
        return record.pipe_estimates is None
    return False


def _problem_of_summary(record: FinalRecord, payload: bytes) -> bool:
    fields = record.fields
    if fields.get("schema") != "1" or "operator" not in fields:
        return True
    if not all(_NATURAL.match(fields.get(name, "")) for name in ("graph", "result")):
        return True
    try:
        groups = _parse_json(payload.decode("utf-8"))
    except ValueError:
        return True
    return not isinstance(groups, dict) or not all(
        _NATURAL.match(name) and isinstance(group, dict) for name, group in groups.items()
    )


def _estimates(text: str) -> Optional[Dict[str, Optional[RawNumber]]]:
    """Pipe → cycles with full names; None when it is no JSON object of finite numbers or nulls."""
    try:
        raw = _parse_json(text)
    except ValueError:
        return None
    if not isinstance(raw, dict):
        return None
    found: Dict[str, Optional[RawNumber]] = {}
    for name, value in raw.items():
        if value is not None and not (isinstance(value, RawNumber) and math.isfinite(float(value))):
            return None
        found[PIPE_NAMES.get(name, str(name))] = value
    return found if len(found) == len(raw) else None


def _of_typed(record: types.FinalTiling | types.FinalTilingSummary) -> FinalRecord:
    summary = isinstance(record, types.FinalTilingSummary)
    fields = {"operator": record.operator, "schema": "1", **record.fields}
    found = FinalRecord(record.at.path, record.at.line, record.operator, summary, fields=fields)
    _read_identity(found)
    if record.status == "ok":
        _complete(found, fields.get("groups" if summary else "tiling_repr", "").encode("utf-8", "surrogateescape"))
    else:
        found.status = record.status
    return found


def _mark_duplicates(records: Sequence[FinalRecord]) -> None:
    seen: Set[Tuple[Any, ...]] = set()
    for record in records:
        if record.status != "ok":
            continue
        names = ("graph", "result") if record.summary else _IDENTITY
        identity = (record.summary, record.fields.get("source"), record.operator, *(record.ids[n] for n in names))
        if identity in seen:
            record.status = _status(record, "duplicate")
        seen.add(identity)


def _damage(record: FinalRecord) -> None:
    record.status = _status(record, "incomplete")
    record.payload = None


def _status(record: FinalRecord, kind: str) -> str:
    return f"{kind}_final_tiling_summary" if record.summary else f"{kind}_final_tiling"


def _reject(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")
