"""Finds the functions of a C++ text and the namespace and class that each belongs to, in one linear pass over its braces.

It knows as much C++ as generated tiling code needs; bodies are compiled by `autofuse_att_perf.bodies`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Iterator, List, NamedTuple, Optional, Tuple

from autofuse_att_perf.bodies import Function, Parameter
from autofuse_att_perf.builder import CAST_TYPES
from autofuse_att_perf.tape import CType, SourceText

__all__ = ["ScopedFunction", "blank_comments", "functions"]


@dataclass(frozen=True)
class ScopedFunction:
    """A function with its enclosing namespaces (joined by `::`) and class ("" for a free function)."""

    namespace: str
    class_name: str
    function: Function


class _Scope(NamedTuple):
    """An open brace: `kind` is `namespace`, `class`, `function` or `block`."""

    kind: str
    name: str
    start: int
    head: Optional["_Head"] = None


class _Head(NamedTuple):
    """What stands before the brace of a function."""

    result: str
    qualifier: str
    name: str
    parameters: str


_STRING = r'"(?:[^"\\\n]|\\.)*"' + r"|'(?:[^'\\\n]|\\.)'"
_COMMENT_OR_STRING = re.compile(r"//(?:[^\\\n]|\\.)*|/\*.*?(?:\*/|\Z)|" + _STRING, re.DOTALL)
_MARK = re.compile(r"[{}]|" + _STRING + r"|^[ \t]*#(?:[^\\\n]|\\.)*", re.DOTALL | re.MULTILINE)
_NAMESPACE = re.compile(r"\bnamespace\s*([\w:]*)\s*\Z")
_CLASS = re.compile(r"\b(?:class|struct)\s+(\w+)\s*(?:final\s*)?(?::[^:;(){}]*(?:::[^:;(){}]+)*)?\Z")
_ACCESS = re.compile(r"\b(?:public|private|protected)\s*:(?!:)")
_NAME_AT_END = re.compile(r"((?:\w+::)*)(~?\w+)\s*\Z")
_TRAILING = frozenset(("const", "override", "final", "noexcept"))
_NOT_FUNCTIONS = frozenset(("if", "for", "while", "switch", "catch", "return", "sizeof"))
_MAX_HEAD = 64 * 1024
"""No declaration is longer; what is, is not read as one."""


def blank_comments(text: str) -> str:
    """`text` with every comment replaced by blanks, so that offsets and lines stay."""
    if "//" not in text and "/*" not in text:
        return text
    return _COMMENT_OR_STRING.sub(_blank, text)


def functions(source: SourceText) -> Iterator[ScopedFunction]:
    """The functions with a body in namespaces and classes of `source`, whose comments are blanked."""
    text = source.text
    stack: List[_Scope] = []
    conditions: List[List[_Scope]] = []
    head_start = 0
    for match in _MARK.finditer(text):
        mark = match[0]
        if mark == "{":
            stack.append(_open(text, head_start, match.start(), stack))
        elif mark == "}":
            if stack:
                found = _closed(source, stack, match.start())
                if found is not None:
                    yield found
        elif mark[0] not in "\"'":
            stack = _preprocess(mark, stack, conditions)
        else:
            continue
        head_start = match.end()


def _blank(match: "re.Match[str]") -> str:
    text = match[0]
    if text[0] != "/":
        return text
    return re.sub(r"[^\n]", " ", text)


def _preprocess(line: str, stack: List[_Scope], conditions: List[List[_Scope]]) -> List[_Scope]:
    """Alternatives of `#if` start from the same open braces, so a brace opened in both counts once."""
    word = line.strip()[1:].lstrip()
    if word.startswith("if"):
        conditions.append(list(stack))
    elif word.startswith("el") and conditions:
        return list(conditions[-1])
    elif word.startswith("endif") and conditions:
        conditions.pop()
    return stack


def _open(text: str, head_start: int, brace: int, stack: List[_Scope]) -> _Scope:
    if stack and stack[-1].kind in ("function", "block"):
        return _Scope("block", "", brace + 1)
    begin = max(text.rfind(";", head_start, brace) + 1, head_start, brace - _MAX_HEAD)
    head = text[begin:brace].rstrip()
    namespace = _NAMESPACE.search(head[-4096:])
    if namespace:
        return _Scope("namespace", namespace[1], brace + 1)
    if head.endswith(")") or head.rpartition(")")[2].strip():
        function = _function_head(head)
        if function is not None:
            return _Scope("function", function.name, brace + 1, function)
    declared = _CLASS.search(head[-4096:])
    if declared:
        return _Scope("class", declared[1], brace + 1)
    return _Scope("block", "", brace + 1)


def _closed(source: SourceText, stack: List[_Scope], end: int) -> Optional[ScopedFunction]:
    scope = stack.pop()
    if scope.head is None:
        return None
    namespace = "::".join(outer.name for outer in stack if outer.kind == "namespace" and outer.name)
    classes = [outer.name for outer in stack if outer.kind == "class"]
    qualifiers = [part for part in scope.head.qualifier.split("::") if part]
    class_name = qualifiers[-1] if qualifiers else classes[-1] if classes else ""
    function = Function(
        scope.head.name,
        tuple(_parameters(scope.head.parameters)),
        CAST_TYPES.get(scope.head.result, CType.F64),
        source,
        scope.start,
        end,
    )
    return ScopedFunction("::".join([namespace, *qualifiers[:-1]]).strip(":"), class_name, function)


def _function_head(head: str) -> Optional[_Head]:
    while head and not head.endswith(")"):
        head, word = _last_word(head)
        if word not in _TRAILING:
            return None
    opening = _matching_parenthesis(head)
    named = _NAME_AT_END.search(head[max(0, opening - 512) : opening]) if opening > 0 else None
    if named is None or named[2] in _NOT_FUNCTIONS:
        return None
    before = _ACCESS.sub(" ", head[: opening - len(named[0])])
    words = re.findall(r"\w+", before[-256:])
    return _Head(words[-1] if words else "", named[1], named[2], head[opening + 1 : -1])


def _last_word(head: str) -> Tuple[str, str]:
    end = len(head)
    begin = end
    while begin and (head[begin - 1].isalnum() or head[begin - 1] == "_"):
        begin -= 1
    return (head[:begin].rstrip(), head[begin:end]) if begin < end else (head, "")


def _matching_parenthesis(head: str) -> int:
    """The offset of the parenthesis that the last one closes; -1 when there is none."""
    depth = 0
    for position in range(len(head) - 1, -1, -1):
        if head[position] == ")":
            depth += 1
        elif head[position] == "(":
            depth -= 1
            if depth == 0:
                return position
    return -1


def _parameters(text: str) -> Iterator[Parameter]:
    for part in text.split(","):
        words = re.findall(r"\w+|[*]", part.partition("=")[0])
        words = [word for word in words if word != "const"]
        if len(words) < 2:
            continue
        ctype = CAST_TYPES.get(words[0], CType.OBJECT) if len(words) == 2 else CType.OBJECT
        yield Parameter(words[-1], ctype)
