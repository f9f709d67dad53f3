"""Structs read from the preprocessed header of the tiling data: one pass over the tokens of a small part of C++.

Understands what such headers hold: scalar fields, arrays, nested and anonymous structs, unions, base classes,
std::array, aliases, enumerations, packing and alignment; methods are skipped. Anything else ends in LayoutError, and
the caller shows the bytes alone. Whether the compiler sees the same is left to `layout_check`.
"""

from __future__ import annotations

import platform
import re
from typing import Dict, List, Optional, Sequence, Tuple

from autofuse_att_verify.constants import evaluate
from autofuse_att_verify.layout import UNPACKED, Array, LayoutError, Scalar, Struct, Type
from autofuse_att_verify.tokens import Cursor, split_declarators, split_words, tokens_of

__all__ = ["read_layout"]

_SCALARS = {
    **{name: Scalar("B", 1) for name in ("uint8_t", "unsigned char", "uint_least8_t", "uint_fast8_t", "char8_t")},
    **{name: Scalar("b", 1) for name in ("int8_t", "signed char", "int_least8_t", "int_fast8_t")},
    **{name: Scalar("H", 2) for name in ("uint16_t", "unsigned short", "uint_least16_t", "char16_t")},
    **{name: Scalar("h", 2) for name in ("int16_t", "short", "int_least16_t")},
    **{name: Scalar("I", 4) for name in ("uint32_t", "unsigned int", "uint_least32_t", "char32_t")},
    **{name: Scalar("i", 4) for name in ("int32_t", "int", "int_least32_t")},
    **{name: Scalar("Q", 8) for name in ("uint64_t", "unsigned long", "size_t", "uintptr_t", "uint_least64_t")},
    **{name: Scalar("q", 8) for name in ("int64_t", "long", "ssize_t", "ptrdiff_t", "intptr_t", "int_least64_t")},
    "bool": Scalar("?", 1),
    "float": Scalar("f", 4),
    "double": Scalar("d", 8),
    "_Float16": Scalar("e", 2),
    "__fp16": Scalar("e", 2),
}
_BASIC = frozenset(("unsigned", "signed", "long", "short", "int", "char"))
_POINTER = Scalar("Q", 8, pointer=True)
_MOST_CELLS = 1 << 20
_NO_TYPE = frozenset(("const", "volatile", "mutable", "struct", "class", "union", "enum", "typename", "inline"))
_SPACE_WORDS = ("namespace", "inline")
_ACCESS = ("public", "private", "protected", "virtual")

_PACK = re.compile(r"pack\s*\(\s*(push)?\s*,?\s*(pop)?\s*,?\s*(\d+)?\s*\)")


def read_layout(preprocessed: str, name: str) -> Struct:
    """The struct `name` (its last component counts) of a header that went through the preprocessor."""
    reader = _Reader(tokens_of(preprocessed))
    reader.read_scope(None)
    wanted = name.split("::")[-1]
    found = reader.resolve([wanted])
    if not isinstance(found, Struct):
        raise LayoutError(f"{wanted} is no struct")
    return found


class _Reader(Cursor):
    """One pass over the tokens; known types by name."""

    def __init__(self, tokens: Sequence[str]) -> None:
        super().__init__(tokens)
        self.types: Dict[str, Type] = dict(_SCALARS)
        self.constants: Dict[str, int] = {}
        self.pack = [UNPACKED]
        self.spaces: List[str] = []
        """Names of the scopes around the place that is read."""
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
            elif token in (";", "inline") or (token in _ACCESS and self.peek() == ":"):
                self.at += 1 if token in (";", "inline") else 2
            elif token in ("namespace", "extern"):
                self._open_namespace()
            elif token in ("friend", "static_assert", "template"):
                self.skip_statement()
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
        start, depth, spaces = self.at, len(self.pack), len(self.spaces)
        try:
            if self.tokens[start] in ("struct", "class", "union"):
                self._struct(None)
            elif self.tokens[start] == "enum":
                self._enum(None)
            else:
                self._declaration(None)
        except (LayoutError, ValueError, IndexError) as error:
            del self.pack[depth:]
            del self.spaces[spaces:]
            named = [word for word in self.tokens[start + 1 : start + 24] if re.match(r"[A-Za-z]\w*$", word)]
            for name in named:
                if name not in self.types:
                    self.problems.setdefault(name, str(error))
            self.at = start + 1
            self.skip_statement()

    def resolve(self, words: Sequence[str]) -> Type:
        """The type that these tokens name."""
        plain = [word for word in words if word not in _NO_TYPE]
        if "*" in plain or "&" in plain:
            return _POINTER
        if "array" in plain[:3] and "<" in plain:
            return self._std_array(plain[plain.index("array") :])
        name = _basic(plain) if plain and _BASIC.issuperset(plain) else _last_component(plain)
        found = self.types.get(name)
        if found is None:
            raise LayoutError(self.problems.get(name) or f"unknown type {' '.join(plain)[:60]}")
        return found

    def _std_array(self, words: Sequence[str]) -> Type:
        inside = words[2:-1]
        comma = len(inside) - 1 - list(reversed(inside)).index(",")
        return Array(self.resolve(inside[:comma]), self._number(inside[comma + 1 :]))

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
            self.pack[-1] = UNPACKED

    def _open_namespace(self) -> None:
        # Types are found by their last component: a header has few names.
        named: List[str] = []
        while self.at < len(self.tokens) and self.tokens[self.at] not in "{;=":
            named.append(self.tokens[self.at])
            self.at += 1
            if self.tokens[self.at - 1].startswith('"') and self.peek(0) != "{":
                return  # extern "C" before one declaration
        opened = self.peek(0) == "{"
        self.at += 1
        if opened:
            inside = "" if named[:1] == ["extern"] else "".join(word for word in named if word not in _SPACE_WORDS)
            self.spaces.append(inside)
            self.read_scope(None)
            self.spaces.pop()
        elif self.peek(-1) == "=":
            self.skip_statement()

    def _struct(self, owner: Optional[Struct]) -> None:
        start = self.at
        union = self.tokens[self.at] == "union"
        self.at += 1
        pack, align = self._attributes()
        name = ""
        if re.match(r"[A-Za-z_]", self.peek(0)):
            name = self.tokens[self.at]
            self.at += 1
        while self.peek(0) in ("final", "::") or self.peek(-1) == "::":
            self.at += 1
        if self.peek(0) not in ("{", ":", ";"):
            self.at = start + 1  # `struct Name field;`
            self._declaration(owner)
            return
        if self.peek(0) == ";":
            self.at += 1
            return
        made = Struct(self._qualified(name), union)
        self._bases(made)
        self.at += 1
        self.spaces.append(name)
        self.read_scope(made)
        self.spaces.pop()
        late_pack, late_align = self._attributes()
        made.close(min(pack, late_pack), max(align, late_align))
        if made.cells > _MOST_CELLS:
            raise LayoutError("more than a million fields")
        if name:
            self.types[name] = made
        self._declarators(made, owner, name)

    def _qualified(self, name: str) -> str:
        """The name as code outside every namespace writes it."""
        return "::".join([*filter(None, self.spaces), name]) if name else ""

    def _bases(self, made: Struct) -> None:
        """`: public A, B` up to the brace: their fields come first."""
        if self.peek(0) != ":":
            return
        end = self.tokens.index("{", self.at)
        for words in split_declarators(list(self.tokens[self.at + 1 : end])):
            if "virtual" in words:
                raise LayoutError(f"{made.name} has a virtual base class")
            base = self.resolve([word for word in words if word not in _ACCESS])
            made.add("", base, self.pack[-1])
        self.at = end

    def _attributes(self) -> Tuple[int, int]:
        """Pack and alignment that __attribute__((…)) and alignas(…) ask for."""
        pack, align = UNPACKED, 0
        while self.peek(0) in ("__attribute__", "alignas"):
            word = self.tokens[self.at]
            self.at += 1
            inside = self.parenthesised()
            if "packed" in inside or "__packed__" in inside:
                pack = 1
            if word == "alignas":
                align = max(align, self._alignment(inside[1:-1]))
            elif "aligned" in inside:
                align = max(align, self._alignment(inside[inside.index("aligned") + 2 : -3]))
        return pack, align

    def _alignment(self, words: Sequence[str]) -> int:
        if len(words) == 1 and words[0] in self.types:
            return self.types[words[0]].align
        return self._number(words)

    def _alias(self, word: str) -> None:
        self.at += 1
        if word == "typedef" and self.peek(0) in ("struct", "union", "class") and self._has_body():
            self._struct(None)
            return
        statement = self.statement()
        if word == "using" and "=" in statement:
            name, words = statement[0], statement[2:]
        elif word == "using" or not statement:
            return  # a using declaration: the last component is known already
        else:
            name, words = statement[-1], statement[:-1]
        try:
            self.types[name] = self.resolve(words)
        except (LayoutError, IndexError, ValueError) as error:
            self.types.pop(name, None)
            self.problems[name] = str(error)  # of interest only if a field uses it

    def _has_body(self) -> bool:
        """Whether a `{` comes before the statement ends."""
        for token in self.tokens[self.at : self.at + 50]:
            if token in "{;":
                return token == "{"
        return False

    def _enum(self, owner: Optional[Struct]) -> None:
        self.at += 1
        words: List[str] = []
        while self.peek(0) not in ("{", ";", ""):
            words.append(self.tokens[self.at])
            self.at += 1
        scoped = words[:1] in (["class"], ["struct"])
        base: Type = _SCALARS["int" if scoped or ":" in words else "uint32_t"]
        if ":" in words:
            base = self.resolve(words[words.index(":") + 1 :])
            words = words[: words.index(":")]
        names = [word for word in words if word not in ("class", "struct", "enum")]
        if self.peek(0) == "{":
            values = self._enumerators()
            if not scoped and words == names and min(values, default=0) < 0:
                base = _SCALARS["int"]
            if names:
                self.types[names[-1]] = base
            self._declarators(base, owner, "enum")
        elif len(names) == 2:
            self.at -= len(words)  # `enum Name field;`
            self._declaration(owner)

    def _enumerators(self) -> List[int]:
        """The values between the braces, which become constants."""
        start = self.at
        self.skip_braces()
        values: List[int] = []
        following = 0
        for words in split_words(self.tokens[start + 1 : self.at - 1]):
            if "=" in words:
                try:
                    following = self._number(words[words.index("=") + 1 :])
                except LayoutError:
                    continue
            if words:
                self.constants[words[0]] = following
                values.append(following)
                following += 1
        return values

    def _declaration(self, owner: Optional[Struct]) -> None:
        """A field, a constant, a function or anything else that ends in `;` or a body."""
        start = self.at
        depth, align = 0, 0
        words: List[str] = []
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token in ("__attribute__", "alignas"):
                pack, asked = self._attributes()
                if pack < UNPACKED:
                    raise LayoutError("a field with an attribute")
                align = max(align, asked)
                continue
            depth += (token == "<") - (token == ">")
            if token == "(" and self.peek() == "*" and words and owner is not None:
                self._function_pointer(owner)
                return
            if token in ("(", "~", "operator") and depth <= 0:
                self.skip_statement()  # a function
                return
            if token in ("=", ";", "[", "{", ",", ":") and not (depth > 0 and token == ","):
                break
            words.append(token)
            self.at += 1
        if owner is None or "static" in words or "constexpr" in words:
            self._constant(list(self.tokens[start : self.at]))
            return
        self.at -= 1
        if self.peek(0) != words[-1]:  # an attribute stands behind the name
            if self.peek() != ";":
                raise LayoutError(f"the field {words[-1]} has an attribute")
            owner.add(words[-1], self.resolve(words[:-1]), self.pack[-1], align)
            self.at += 2
            return
        self._declarators(self.resolve(words[:-1]), owner, "", align)

    def _function_pointer(self, owner: Struct) -> None:
        """`type (*name)(…)` and arrays of such."""
        self.at += 1
        inside = list(self.tokens[self.at : self.tokens.index(")", self.at)])
        self.skip_statement()
        item, name = self._declarator(_POINTER, inside[1:])
        owner.add(name, item, self.pack[-1])

    def _constant(self, words: Sequence[str]) -> None:
        statement = self.statement()
        value = statement[1:] if statement[:1] == ["="] else statement[1:-1] if statement[:1] == ["{"] else []
        if words and value:
            try:
                self.constants[words[-1]] = self._number(value)
            except LayoutError:
                self.constants.pop(words[-1], None)

    def _declarators(self, kind: Type, owner: Optional[Struct], name: str, align: int = 0) -> None:
        """`a, *b, c[2][3] = {…};` after a type."""
        anonymous = True
        for words in split_declarators(self.statement()):
            if not words:
                continue
            anonymous = False
            if ":" in words:
                raise LayoutError(f"bit field {words[0]}")
            item, field_name = self._declarator(kind, words)
            if owner is None:
                self.types.setdefault(field_name, item)  # typedef struct { … } Name;
                continue
            owner.add(field_name, item, self.pack[-1], align)
        if anonymous and owner is not None and not name and isinstance(kind, Struct):
            owner.add("", kind, self.pack[-1])

    def _declarator(self, kind: Type, words: List[str]) -> Tuple[Type, str]:
        if words[0] in ("*", "&"):
            kind = _POINTER
            words = [word for word in words if word not in ("*", "&", "const")]
        if "__attribute__" in words:
            raise LayoutError(f"the field {words[0]} has an attribute")
        name, rest = words[0], words[1:]
        counts: List[int] = []
        while rest[:1] == ["["]:
            closing = rest.index("]")
            counts.append(self._number(rest[1:closing]))
            rest = rest[closing + 1 :]
        for count in reversed(counts):
            kind = Array(kind, count)
        return kind, name

    def _number(self, words: Sequence[str]) -> int:
        """The value of a constant integer expression."""
        return evaluate(words, self.constants, lambda named: self.resolve(named).size)


def _basic(words: Sequence[str]) -> str:
    """The usual name of a type that is spelt in many ways: `long unsigned int` is `unsigned long`."""
    sign = "unsigned " if "unsigned" in words else ""
    if "char" in words:
        plain = "unsigned char" if platform.machine() in ("aarch64", "arm64") else "signed char"
        return f"{sign or 'signed '}char" if sign or "signed" in words else plain
    size = "long" if "long" in words else "short" if "short" in words else "int"
    return sign + size


def _last_component(words: Sequence[str]) -> str:
    """`T` of `a::b::T`; `""` for anything that is no qualified name."""
    names, marks = list(words), 0
    if names[:1] == ["::"]:
        names = names[1:]
    marks = names.count("::")
    alternating = len(names) == 2 * marks + 1 and all(name == "::" for name in names[1::2])
    return names[-1] if names and alternating else ""
