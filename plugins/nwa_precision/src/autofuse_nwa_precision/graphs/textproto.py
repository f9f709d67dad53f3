"""A reader of protobuf text format that keeps the fields of a schema and skips all others without building them.

It exists because GE's ModelDef files hold far more attributes than a comparison needs, and because their schema changes
between releases; it knows nothing of graphs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from mmap import mmap
from typing import Dict, List, Mapping, Optional, Union

__all__ = ["Fields", "Schema", "TextProtoError", "Tree", "parse", "unescape"]

Tree = Dict[str, object]
"""Field → str or int, a Tree, or a list of these for a repeated field: what the JSON form of the message would give."""


@dataclass(frozen=True)
class Fields:
    """The fields of a message that are wanted. A nested message has its own Fields, a scalar None."""

    wanted: Mapping[str, Optional[Fields]]
    repeated: frozenset[str] = frozenset()
    keys: Optional[frozenset[str]] = None
    """For a map entry: entries whose `key` stands first and is none of these are skipped."""


Schema = Fields


class TextProtoError(ValueError):
    """The text is no protobuf text format, or ends too early; `line` is 1-based."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.line = line


_SPACE = re.compile(rb"(?:[\s,;]+|#[^\n]*)*")
_FIELD = re.compile(rb"([A-Za-z_]\w*|\[[\w./ ]*\])\s*(:?)\s*")
_ENTRY = re.compile(rb"[{<]\s*key\s*:\s*\"([^\"\\\n]*)\"\s*value\b")
_SCALAR = re.compile(rb"[-+]?\s*[\w.+-]+")
# Up to the next brace, comment or string with an escape; plain strings are passed over in the same match.
_UNTIL_BRACE = re.compile(rb"[^{}<>\"'#]*(?:\"[^\"\\\n]*\"[^{}<>\"'#]*)*")
_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|[xX]([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_LETTERS = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_PLAIN = frozenset(b"\\'\"?")


def parse(data: Union[bytes, mmap], schema: Schema) -> Tree:
    """The wanted fields of the message in `data`; TextProtoError says where the text stops making sense."""
    return _Reader(data).message(schema, closing=None)


def unescape(raw: bytes, strict: bool = False) -> Optional[bytes]:
    """Undoes C escapes. With `strict`, None when an escape is not one that C knows; else its letter is kept."""
    if b"\\" not in raw:
        return raw
    if strict and not _is_escaped(raw):
        return None
    return _ESCAPE.sub(_unescape_one, raw)


def _is_escaped(raw: bytes) -> bool:
    rest = _ESCAPE.sub(lambda m: b"\\" if m[5] and m[5] not in _LETTERS and m[5][0] not in _PLAIN else b"", raw)
    return b"\\" not in rest


def _unescape_one(match: re.Match[bytes]) -> bytes:
    octal, hexadecimal, short, long, letter = match.groups()
    if octal:
        return bytes([int(octal, 8) & 0xFF])
    if hexadecimal:
        return bytes([int(hexadecimal, 16)])
    if short or long:
        code = int(short or long, 16)
        return chr(code).encode("utf-8", "surrogatepass") if code <= 0x10FFFF else match[0]
    return _LETTERS.get(letter, letter)


class _Reader:
    def __init__(self, data: Union[bytes, mmap]) -> None:
        self._data = data
        self._at = 3 if data[:3] == b"\xef\xbb\xbf" else 0

    def message(self, schema: Schema, closing: Optional[bytes]) -> Tree:
        """Reads fields up to `closing`, or to the end of the text for None. Nested only as deep as the schema."""
        tree: Tree = {}
        while True:
            self._skip_space()
            sign = self._data[self._at : self._at + 1]
            if sign == closing:
                self._at += 1
                return tree
            if not sign:
                if closing:
                    raise self._error("the text ends inside a message")
                return tree
            self._field(schema, tree)

    def _field(self, schema: Schema, tree: Tree) -> None:
        match = _FIELD.match(self._data, self._at)
        if not match:
            raise self._error(f"a field name is expected, not {self._excerpt()}")
        self._at = match.end()
        name = match[1].decode("ascii", "replace")
        nested = schema.wanted.get(name)
        unwanted = name not in schema.wanted
        opening = self._data[self._at : self._at + 1]
        if opening == b"[":
            self._list(name, schema, tree, unwanted)
        elif opening in (b"{", b"<"):
            if nested is None or self._is_unwanted_entry(nested):
                self._skip_message()
            else:
                self._at += 1
                _store(tree, schema, name, self.message(nested, b"}" if opening == b"{" else b">"))
        elif match[2]:
            value = self._scalar()
            if not unwanted and nested is None:
                _store(tree, schema, name, value)
        else:
            raise self._error(f"`:` or `{{` is expected after {name[:40]}")

    def _is_unwanted_entry(self, nested: Schema) -> bool:
        """Most of a graph file is map entries that nobody reads: the key alone decides."""
        match = _ENTRY.match(self._data, self._at) if nested.keys is not None else None
        return match is not None and match[1].decode("utf-8", "replace") not in (nested.keys or ())

    def _list(self, name: str, schema: Schema, tree: Tree, unwanted: bool) -> None:
        """`dim: [1, 2]`, the short form of a repeated field."""
        self._at += 1
        nested = schema.wanted.get(name)
        while True:
            self._skip_space()
            opening = self._data[self._at : self._at + 1]
            if opening == b"]":
                self._at += 1
                return
            if opening in (b"{", b"<"):
                if nested is None:
                    self._skip_message()
                else:
                    self._at += 1
                    _store(tree, schema, name, self.message(nested, b"}" if opening == b"{" else b">"))
                continue
            value = self._scalar()
            if not unwanted and nested is None:
                _store(tree, schema, name, value)

    def _scalar(self) -> Union[str, int]:
        quote = self._data[self._at : self._at + 1]
        if quote in (b'"', b"'"):
            return self._string().decode("utf-8", "surrogateescape")
        match = _SCALAR.match(self._data, self._at)
        if not match:
            raise self._error(f"a value is expected, not {self._excerpt()}")
        self._at = match.end()
        word = match[0].decode("ascii", "replace").replace(" ", "")
        try:
            return int(word, 0) if len(word) < 40 else word
        except ValueError:
            return word

    def _string(self) -> bytes:
        """A string; neighbouring strings are one."""
        parts: List[bytes] = []
        while True:
            start = self._at + 1
            end = self._string_end()
            parts.append(unescape(self._data[start:end]) or b"")
            self._at = end + 1
            self._skip_space()
            if self._data[self._at : self._at + 1] not in (b'"', b"'"):
                return b"".join(parts)

    def _string_end(self) -> int:
        """The place of the quote that closes the string opening here; a search, so that 100 MB strings are cheap."""
        quote = self._data[self._at : self._at + 1]
        end = self._at
        while True:
            end = self._data.find(quote, end + 1)
            if end < 0:
                raise self._error("the text ends inside a string")
            backslashes = end
            while self._data[backslashes - 1 : backslashes] == b"\\":
                backslashes -= 1
            if (end - backslashes) % 2 == 0:
                return end

    def _skip_message(self) -> None:
        """Skips `{ … }` without recursion, whatever its depth."""
        start, depth = self._at, 0
        while True:
            match = _UNTIL_BRACE.match(self._data, self._at)
            self._at = match.end() if match else self._at
            sign = self._data[self._at : self._at + 1]
            if not sign:
                self._at = start
                raise self._error("the text ends inside the message that begins here")
            if sign in (b'"', b"'"):
                self._at = self._string_end()
            elif sign == b"#":
                newline = self._data.find(b"\n", self._at)
                self._at = newline if newline >= 0 else len(self._data) - 1
            else:
                depth += 1 if sign in (b"{", b"<") else -1
            self._at += 1
            if depth == 0:
                return

    def _skip_space(self) -> None:
        match = _SPACE.match(self._data, self._at)
        self._at = match.end() if match else self._at

    def _excerpt(self) -> str:
        word = self._data[self._at : self._at + 20].split(b"\n")[0]
        return repr(word.decode("utf-8", "replace"))

    def _error(self, what: str) -> TextProtoError:
        return TextProtoError(what, self._data[: self._at].count(b"\n") + 1)


def _store(tree: Tree, schema: Schema, name: str, value: object) -> None:
    if name in schema.repeated:
        found = tree.setdefault(name, [])
        if isinstance(found, list):
            found.append(value)
    else:
        tree[name] = value
