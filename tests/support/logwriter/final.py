"""FINAL_TILING lines, single and framed, with both hash algorithms; the escapes of `EmitFinalTilingLines`.

The hash and the escapes are written here once more, from the format, so that a mistake of the reader shows.
"""

from __future__ import annotations

import hashlib
import json
from typing import List, Optional, Tuple

from logwriter.model import FinalTiling, FinalTilingSummary, Producer

__all__ = ["escape", "final_lines", "mix64", "summary_lines"]

_BITS = (1 << 64) - 1


def final_lines(record: FinalTiling, operator: str, producer: Producer) -> List[str]:
    """One line, or BEGIN, CHUNKs and END when it would be longer than the producer's limit."""
    payload = record.representation
    identity = [
        *_head(record.source, record.selection_mode, operator, record.graph, record.result, producer),
        ("group", str(record.group)),
        ("case_id", str(record.case)),
        ("tiling_key", str(record.tiling_key)),
        ("score", str(record.score)),
        ("sub_case_tag", _text(record.sub_case, producer)),
        ("template", _text(record.template or _template_name(record), producer)),
        ("repr_kind", _text("unavailable" if payload is None else "full_json", producer)),
        ("pipe_estimates", _quoted(_pipes(record))),
        *((key, _quoted(value)) for key, value in record.extra),
    ]
    frame_id = _frame_id(record, operator)
    return _lines("FINAL_TILING", identity, "tiling_repr", payload or "", frame_id, producer)


def summary_lines(summary: FinalTilingSummary, operator: str, producer: Producer) -> List[str]:
    """The same for the groups that were chosen together."""
    identity = _head(summary.source, summary.selection_mode, operator, summary.graph, summary.result, producer)
    groups = {
        str(group.group): {
            "case_id": group.case,
            "tiling_key": group.tiling_key,
            "score": group.score,
            "sub_case_tag": group.sub_case,
            "template": group.template or _template_name(group),
        }
        for group in summary.groups
    }
    payload = json.dumps(groups, separators=(",", ":"), ensure_ascii=False)
    frame_id = f"{len(operator.encode())}:{operator}|{summary.graph}|{summary.result}"
    return _lines("FINAL_TILING_SUMMARY", identity, "groups", payload, frame_id, producer)


def mix64(data: bytes) -> str:
    """`att_mix64_v1` in 16 hexadecimal digits."""
    state = 0x6D2B79F5
    for byte in data:
        state ^= (byte + 0x9E3779B9 + (state << 6) + (state >> 2)) & _BITS
        state = ((state << 13) | (state >> (64 - 13))) & _BITS
    return f"{state:016x}"


def escape(text: str) -> str:
    """The text as it stands between quotes."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")


Fields = List[Tuple[str, str]]
"""Keys and values as they are printed."""


def _head(source: str, mode: str, operator: str, graph: int, result: int, producer: Producer) -> Fields:
    return [
        ("schema", "1"),
        ("source", _text(source, producer)),
        ("selection_mode", _text(mode, producer)),
        ("operator", _text(operator, producer)),
        ("graph", str(graph)),
        ("result", str(result)),
    ]


def _lines(tag: str, identity: Fields, key: str, payload: str, frame_id: str, producer: Producer) -> List[str]:
    whole = _line(tag, [*identity, (key, _quoted(payload))])
    if len(whole.encode()) <= producer.frame_limit:
        return [whole]
    pieces = _pieces(payload, producer.chunk_size)
    check = _check(frame_id, pieces, payload.encode(), producer.hash_algorithm)
    begin = _line(f"{tag}_BEGIN", [*identity, *check])
    chunks = [
        _line(f"{tag}_CHUNK", [("id", _quoted(frame_id)), ("seq", str(number)), ("data", _quoted(piece))])
        for number, piece in enumerate(pieces)
    ]
    return [begin, *chunks, _line(f"{tag}_END", check)]


def _check(frame_id: str, pieces: List[str], payload: bytes, algorithm: Optional[str]) -> Fields:
    fields = [("id", _quoted(frame_id)), ("chunks", str(len(pieces))), ("len", str(len(payload)))]
    if algorithm is None:
        return [*fields, ("hash", hashlib.sha256(payload).hexdigest())]
    digest = hashlib.sha256(payload).hexdigest() if algorithm == "sha256" else mix64(payload)
    return [*fields, ("hash_alg", algorithm), ("hash", digest)]


def _pieces(payload: str, size: int) -> List[str]:
    """Pieces of at most `size` escaped bytes; an escape and a character are never torn apart."""
    pieces: List[str] = []
    piece: List[str] = []
    room = size
    for character in payload:
        needs = len(escape(character).encode())
        if needs > room and piece:
            pieces.append("".join(piece))
            piece, room = [], size
        piece.append(character)
        room -= needs
    return [*pieces, "".join(piece)] if piece or not pieces else pieces


def _line(tag: str, fields: Fields) -> str:
    return f"[ATT][{tag}] " + " ".join(f"{key}={value}" for key, value in fields)


def _quoted(text: str) -> str:
    return f'"{escape(text)}"'


def _text(text: str, producer: Producer) -> str:
    plain = text and not any(character.isspace() or character in '"\\=' for character in text)
    return text if plain and not producer.quoted else _quoted(text)


def _pipes(record: FinalTiling) -> str:
    parts = (f"{json.dumps(name)}:{'null' if value is None else value}" for name, value in record.pipe_estimates)
    return "{" + ",".join(parts) + "}"


def _template_name(record: FinalTiling) -> str:
    return f"graph{record.graph}_result{record.result}_g{record.group}_{record.sub_case}{record.case}"


def _frame_id(record: FinalTiling, operator: str) -> str:
    numbers = (record.graph, record.result, record.group, record.case, record.tiling_key)
    ids = "|".join(str(number) for number in numbers)
    return f"{len(operator.encode())}:{operator}|{ids}|{len(record.sub_case.encode())}:{record.sub_case}"
