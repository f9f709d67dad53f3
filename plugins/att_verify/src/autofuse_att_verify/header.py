"""Structs read from the preprocessed header of the tiling data: one pass over the tokens of a small part of C++.

Understands what such headers hold: scalar fields, arrays, nested and anonymous structs, std::array, aliases, packing
and alignment; methods are skipped. Anything else ends in LayoutError, and the caller shows the bytes alone.
"""

from __future__ import annotations

import ast
import re
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from autofuse_att_verify.layout import Array, LayoutError, Scalar, Struct, Type

__all__ = ["read_layout"]

_SCALARS = {
    **{name: Scalar("B", 1) for name in ("uint8_t", "unsigned char")},
    **{name: Scalar("b", 1) for name in ("int8_t", "char", "signed char")},
    "bool": Scalar("?", 1),
    **{name: Scalar("H", 2) for name in ("uint16_t", "unsigned short", "unsigned short int")},
    **{name: Scalar("h", 2) for name in ("int16_t", "short", "short int")},
    **{name: Scalar("I", 4) for name in ("uint32_t", "unsigned int", "unsigned")},
    **{name: Scalar("i", 4) for name in ("int32_t", "int")},
    **{
        name: Scalar("Q", 8)
        for name in ("uint64_t", "size_t", "unsigned long", "unsigned long int", "unsigned long long", "uintptr_t")
    },
    **{name: Scalar("q", 8) for name in ("int64_t", "long", "long int", "long long", "ssize_t", "ptrdiff_t")},
    "float": Scalar("f", 4),
    "double": Scalar("d", 8),
}
_POINTER = Scalar("Q", 8)
_UNPACKED = 16
_MOST_CELLS = 1 << 20

_TOKEN = re.compile(
    r"#\s*pragma\s+pack\s*\([^)\n]*\)|#[^\n]*|[A-Za-z_]\w*|\d[\w']*|::|->|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|\S"
)
_LINE_MARK = re.compile(r'^# \d+ "([^"]*)"([ \d]*)$')
_PACK = re.compile(r"pack\s*\(\s*(push)?\s*,?\s*(pop)?\s*,?\s*(\d+)?\s*\)")


def read_layout(preprocessed: str, name: str) -> Struct:
    """The struct `name` (its last component counts) of a header that went through the preprocessor."""
    reader = _Reader(_TOKEN.findall(_own_lines(preprocessed)))
    reader.read_scope(None)
    wanted = name.split("::")[-1]
    found = reader.resolve([wanted])
    if not isinstance(found, Struct):
        raise LayoutError(f"{wanted} is no struct")
    return found


def _own_lines(text: str) -> str:
    """The lines that do not come from system headers (flag 3 of the line marks)."""
    kept: List[str] = []
    own = True
    for line in text.splitlines():
        mark = _LINE_MARK.match(line)
        if mark:
            own = "3" not in mark[2].split()
        elif own:
            kept.append(line)
    return "\n".join(kept)


class _Reader:
    """One pass over the tokens; known types by name."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = tokens
        self.at = 0
        self.types: Dict[str, Type] = dict(_SCALARS)
        self.constants: Dict[str, int] = {}
        self.pack = [_UNPACKED]
        self.cells = 0
        self.problems: Dict[str, str] = {}
        """Types that are not understood, of interest only if a field is of such a type."""

    def read_scope(self, owner: Optional[Struct]) -> None:
        """Reads declarations up to the closing brace or the end; fields go into `owner`."""
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token == "}":
                self.at += 1
                return
            if token.startswith("#"):
                self.at += 1
                self._pragma(token)
            elif token in (";", "inline") or (token in ("public", "private", "protected") and self._peek() == ":"):
                self.at += 1 if token in (";", "inline") else 2
            elif token in ("namespace", "extern"):
                self._open_namespace()
            elif owner is None and token not in ("using", "typedef"):
                self._outside()
            elif token in ("struct", "class", "union"):
                self._struct(owner)
            elif token in ("using", "typedef"):
                self._alias(token)
            elif token == "enum":
                self._enum(owner)
            else:
                self._declaration(owner)

    def _outside(self) -> None:
        """One declaration that is not inside a struct; when it is not understood it is skipped and remembered."""
        start, depth = self.at, len(self.pack)
        try:
            if self.tokens[start] in ("struct", "class", "union"):
                self._struct(None)
            elif self.tokens[start] == "enum":
                self._enum(None)
            else:
                self._declaration(None)
        except (LayoutError, ValueError, IndexError) as error:
            del self.pack[depth:]
            named = [word for word in self.tokens[start + 1 : start + 24] if re.match(r"[A-Za-z]\w*$", word)]
            for name in named:
                if name not in self.types:
                    self.problems.setdefault(name, str(error))
            self.at = start + 1
            self._skip_statement()

    def resolve(self, words: Sequence[str]) -> Type:
        """The type that these tokens name."""
        ignored = ("const", "volatile", "std", "::", "mutable", "struct", "constexpr", "static", "inline")
        plain = [word for word in words if word not in ignored]
        if "*" in plain or "&" in plain:
            return _POINTER
        if plain[:1] == ["array"] and "<" in plain:
            return self._std_array(plain)
        name = " ".join(plain)
        found = self.types.get(name) or self.types.get(plain[-1] if plain else "")
        if found is None:
            problem = self.problems.get(plain[-1] if plain else "")
            raise LayoutError(problem or f"unknown type {name[:60]}")
        return found

    def _std_array(self, words: Sequence[str]) -> Type:
        inside = words[2:-1]
        comma = len(inside) - 1 - list(reversed(inside)).index(",")
        return Array(self.resolve(inside[:comma]), self._number(inside[comma + 1 :]))

    def _peek(self, ahead: int = 1) -> str:
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ""

    def _pragma(self, token: str) -> None:
        found = _PACK.search(token) if "pragma" in token else None
        if not found:
            return
        if found[1]:
            self.pack.append(self.pack[-1])
        if found[2] and len(self.pack) > 1:
            self.pack.pop()
        if found[3]:
            self.pack[-1] = int(found[3])
        elif not (found[1] or found[2]):
            self.pack[-1] = _UNPACKED

    def _open_namespace(self) -> None:
        # Scopes are flattened: a header has few names, and the last component tells them apart.
        while self.at < len(self.tokens) and self.tokens[self.at] not in "{;=":
            self.at += 1
            if self.tokens[self.at - 1].startswith('"') and self._peek(0) != "{":
                return  # extern "C" before one declaration
        opened = self._peek(0) == "{"
        self.at += 1
        if opened:
            self.read_scope(None)
        elif self._peek(-1) == "=":
            self._skip_statement()

    def _struct(self, owner: Optional[Struct]) -> None:
        start = self.at
        union = self.tokens[self.at] == "union"
        self.at += 1
        pack, align = self._attributes()
        name = ""
        if re.match(r"[A-Za-z_]", self._peek(0)):
            name = self.tokens[self.at]
            self.at += 1
        while self._peek(0) not in ("{", ";", "") and (self._peek(0) in ("final", "::") or self._peek(-1) == "::"):
            self.at += 1
        if self._peek(0) != "{":
            if self._peek(0) == ":":
                raise LayoutError(f"{name} has a base class")
            if self._peek(0) == ";":
                self.at += 1
                return
            self.at = start + 1  # `struct Name field;`
            self._declaration(owner)
            return
        self.at += 1
        made = Struct(name)
        self.pack.append(min(pack, self.pack[-1]))
        self.read_scope(made)
        late_pack, late_align = self._attributes()
        self.pack.pop()
        made.align = max(made.align, align, late_align)
        if union or late_pack < _UNPACKED:
            raise LayoutError(f"{name or 'a type'} is a union or packed by an attribute")
        made.close()
        if name:
            self.types[name] = made
        self._declarators(made, owner, name)

    def _attributes(self) -> Tuple[int, int]:
        """Pack and alignment that __attribute__((…)) and alignas(…) ask for."""
        pack, align = _UNPACKED, 0
        while self._peek(0) in ("__attribute__", "alignas"):
            word = self.tokens[self.at]
            self.at += 1
            inside = self._parenthesised()
            if "packed" in inside or "__packed__" in inside:
                pack = 1
            numbers = [token for token in inside if token[0].isdigit()]
            if word == "alignas" or "aligned" in inside:
                if not numbers:
                    raise LayoutError("alignment that is no number")
                align = max(align, int(numbers[0]))
        return pack, align

    def _alias(self, word: str) -> None:
        self.at += 1
        statement = self._statement()
        if word == "using" and "=" in statement:
            name, words = statement[0], statement[2:]
        elif word == "using":
            return  # a using declaration: the last component is known already
        else:
            name, words = statement[-1] if statement else "", statement[:-1]
        try:
            self.types[name] = self.resolve(words)
        except (LayoutError, IndexError, ValueError):
            return  # of interest only if a field uses it, and then it is unknown

    def _enum(self, owner: Optional[Struct]) -> None:
        self.at += 1
        words: List[str] = []
        while self._peek(0) not in ("{", ";", ""):
            words.append(self.tokens[self.at])
            self.at += 1
        base: Type = _SCALARS["int"]
        if ":" in words:
            base = self.resolve(words[words.index(":") + 1 :])
            words = words[: words.index(":")]
        names = [word for word in words if word not in ("class", "struct")]
        if names:
            self.types[names[-1]] = base
        if self._peek(0) == "{":
            self._skip_braces()
            self._declarators(base, owner, "enum")

    def _declaration(self, owner: Optional[Struct]) -> None:
        """A field, a constant, a function or anything else that ends in `;` or a body."""
        start = self.at
        if self.tokens[start] == "template":
            self._skip_statement()
            return
        depth = 0
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token == "<":
                depth += 1
            elif token == ">":
                depth -= 1
            elif token in ("__attribute__", "alignas"):
                self.at += 1
                self._parenthesised()
                continue
            elif token == "(" or token == "~" or token == "operator":
                self._skip_statement()  # a function
                return
            elif token in ("=", ";", "[", "{", ",", ":") and not (depth > 0 and token == ","):
                break
            self.at += 1
        words = list(self.tokens[start : self.at])
        if owner is None or "static" in words or "constexpr" in words:
            self._constant(words)
            return
        self.at -= 1
        self._declarators(self.resolve(self._without_alignment(words[:-1])), owner, "", self._alignment(words))

    @staticmethod
    def _without_alignment(words: Sequence[str]) -> List[str]:
        if "alignas" not in words and "__attribute__" not in words:
            return list(words)
        kept, depth = [], 0
        for word in words:
            depth += word == "("
            if depth == 0 and word not in ("alignas", "__attribute__"):
                kept.append(word)
            depth -= word == ")"
        return kept

    @staticmethod
    def _alignment(words: Sequence[str]) -> int:
        if "alignas" in words:
            number = words[words.index("alignas") + 2]
            if not number.isdigit():
                raise LayoutError("alignment that is no number")
            return int(number)
        if "__attribute__" in words:
            raise LayoutError("a field with an attribute")
        return 0

    def _constant(self, words: Sequence[str]) -> None:
        statement = self._statement()
        if words and statement[:1] == ["="]:
            try:
                self.constants[words[-1]] = self._number(statement[1:])
            except LayoutError:
                return

    def _declarators(self, kind: Type, owner: Optional[Struct], name: str, align: int = 0) -> None:
        """`a, *b, c[2][3] = {…};` after a type."""
        anonymous = True
        for words in self._split(self._statement()):
            if not words:
                continue
            anonymous = False
            if ":" in words:
                raise LayoutError(f"bit field {words[0]}")
            item, field_name = self._declarator(kind, words)
            if owner is not None:
                self.cells += item.count if isinstance(item, Array) else 1
                if self.cells > _MOST_CELLS:
                    raise LayoutError("more than a million fields")
                owner.add(field_name, item, self.pack[-1], align)
        if anonymous and owner is not None and not name and isinstance(kind, Struct):
            self._merge(owner, kind)

    def _merge(self, owner: Struct, inner: Struct) -> None:
        """The fields of an anonymous struct belong to the struct around it."""
        step = min(inner.align, self.pack[-1])
        base = -(-owner.size // step) * step
        owner.fields += [(name, kind, base + offset) for name, kind, offset in inner.fields]
        owner.size, owner.align = base + inner.size, max(owner.align, step)

    def _declarator(self, kind: Type, words: List[str]) -> Tuple[Type, str]:
        if words[0] in ("*", "&"):
            return _POINTER, words[-1]
        name, rest = words[0], words[1:]
        counts: List[int] = []
        while rest[:1] == ["["]:
            closing = rest.index("]")
            counts.append(self._number(rest[1:closing]))
            rest = rest[closing + 1 :]
        for count in reversed(counts):
            kind = Array(kind, count)
        return kind, name

    @staticmethod
    def _split(statement: Sequence[str]) -> List[List[str]]:
        """Declarators between commas, without initialisers."""
        parts: List[List[str]] = [[]]
        depth, initialiser = 0, False
        for token in statement:
            depth += token in ("{", "(")
            if token == "," and depth == 0:
                parts.append([])
                initialiser = False
            elif (token == "=" or token == "{") and depth <= 1:
                initialiser = True
            elif not initialiser:
                parts[-1].append(token)
            depth -= token in ("}", ")")
        return parts

    def _number(self, words: Sequence[str]) -> int:
        """The value of a constant integer expression."""
        text = " ".join(map(self._literal, words)).replace("< <", "<<")
        if len(text) > 200 or not re.fullmatch(r"[\d\sxXa-fA-F+\-*/()%<>|&]+", text):
            raise LayoutError(f"array size {text[:40]!r}")
        try:
            return _evaluate(ast.parse(text.replace("/", "//"), mode="eval").body)
        except (SyntaxError, ValueError, ZeroDivisionError, RecursionError):
            raise LayoutError(f"array size {text[:40]!r}") from None

    def _literal(self, word: str) -> str:
        if word in self.constants:
            return str(self.constants[word])
        return re.sub(r"[uUlL]+$", "", word).replace("'", "") if word[0].isdigit() else word

    def _parenthesised(self) -> List[str]:
        if self._peek(0) != "(":
            return []
        start, depth = self.at, 0
        while self.at < len(self.tokens):
            depth += (self.tokens[self.at] == "(") - (self.tokens[self.at] == ")")
            self.at += 1
            if depth == 0:
                break
        return list(self.tokens[start : self.at])

    def _statement(self) -> List[str]:
        """The tokens up to the `;` that ends the statement, braces balanced."""
        start, depth = self.at, 0
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            depth += (token in "{(") - (token in "})")
            self.at += 1
            if token == ";" and depth <= 0:
                return list(self.tokens[start : self.at - 1])
        raise LayoutError("the header ends within a declaration")

    def _skip_statement(self) -> None:
        """Past a `;` or past a body in braces, whichever ends it."""
        depth = 0
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token == "{" and depth == 0:
                self._skip_braces()
                return
            depth += (token == "(") - (token == ")")
            self.at += 1
            if token == ";" and depth <= 0:
                return

    def _skip_braces(self) -> None:
        depth = 0
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            depth += (token == "{") - (token == "}")
            self.at += 1
            if depth == 0:
                return


_OPERATORS: Dict[type, Callable[[int, int], int]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.BitOr: lambda a, b: a | b,
    ast.BitAnd: lambda a, b: a & b,
}


def _evaluate(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _evaluate(node.left), _evaluate(node.right)
        if max(abs(left), abs(right)) < 1 << 40:
            return _OPERATORS[type(node.op)](left, right)
        raise ValueError("too large")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.LShift):
        left, right = _evaluate(node.left), _evaluate(node.right)
        if 0 <= right < 40 and 0 <= left < 1 << 20:
            return left << right
    raise ValueError("no constant")
