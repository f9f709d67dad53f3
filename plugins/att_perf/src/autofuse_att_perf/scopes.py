"""Finds the functions of a C++ text and the namespace and class that each belongs to, in one pass over its braces.

It knows as much C++ as generated tiling code needs; bodies are compiled by `autofuse_att_perf.bodies`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Iterator, List, NamedTuple, Optional, Tuple

from autofuse_att_perf.bodies import Function, Parameter
from autofuse_att_perf.builder import CAST_TYPES
from autofuse_att_perf.tape import CType, SourceText

__all__ = ["ScopedFunction", "blank_comments", "functions"]


class ScopedFunction(NamedTuple):
    """A function with its enclosing namespaces (joined by `::`) and class ("" for a free function)."""

    namespace: str
    class_name: str
    function: Function


class _Scope(NamedTuple):
    """An open brace outside of functions: the namespaces and the class that what follows belongs to."""

    namespace: str
    class_name: str


class _Head(NamedTuple):
    """What stands before the brace of a function."""

    result: str
    qualifier: str
    name: str
    parameters: str


_STRING_TEXT = r'"(?:[^"\\\n]|\\.)*"' + r"|'(?:[^'\\\n]|\\.)'"
_STRING = re.compile(_STRING_TEXT, re.DOTALL)
_COMMENT_OR_STRING = re.compile(r"//(?:[^\\\n]|\\.)*|/\*.*?(?:\*/|\Z)|" + _STRING_TEXT, re.DOTALL)
# A single character class: the regular expression engine then runs over the text in between at memory speed.
_MARK = re.compile("[{}\"'#]")
_NO_LINE_END = re.compile(r"[^\n]")
_DIRECTIVE = re.compile(r"#(?:[^\\\n]|\\.)*", re.DOTALL)
_NAMESPACE = re.compile(r"\bnamespace\s*([\w:]*)\s*\Z")
_CLASS = re.compile(r"\b(?:class|struct)\s+(\w+)\s*(?:final\s*)?(?::[^:;(){}]*(?:::[^:;(){}]+)*)?\Z")
_ACCESS = re.compile(r"\b(?:public|private|protected)\s*:(?!:)")
# Of the text before the parenthesis, last character first: a name and the scopes that qualify it.
_NAME_BACKWARDS = re.compile(r"\s*(\w+~?)((?:::\w+)*)")
_WORD = re.compile(r"\w+")
_WORD_OR_STAR = re.compile(r"\w+|[*]")
_TRAILING = frozenset(("const", "override", "final", "noexcept"))
_MAX_HEAD = 64 * 1024
"""No declaration is longer; what is, is not read as one."""


def blank_comments(text: str) -> str:
    """`text` with every comment replaced by blanks, so that offsets and lines stay."""
    if "//" not in text and "/*" not in text:
        return text
    return _COMMENT_OR_STRING.sub(_blank, text)


def functions(source: SourceText, wanted: re.Pattern[str]) -> Iterator[ScopedFunction]:
    """The functions with a body whose name is `wanted`, with their scopes; the comments of `source` are blanked."""
    return _Finder(source, wanted).find()


class _Finder:
    """Follows the braces of one text; inside a function it only counts them."""

    def __init__(self, source: SourceText, wanted: re.Pattern[str]) -> None:
        self.source = source
        self.wanted = wanted
        self.stack: List[_Scope] = [_Scope("", "")]
        self.depth = 0
        """Braces open since the head of a function or of a block that is none of our business."""
        self.marks = {'"': -1, "'": -1, "#": -1}
        """The next of each behind the last function that was looked at."""
        self.conditions: List[Tuple[List[_Scope], int]] = []

    def find(self) -> Iterator[ScopedFunction]:
        """See `functions`."""
        text = self.source.text
        head: Optional[_Head] = None
        head_start = body = position = 0
        while True:
            match = _MARK.search(text, position)
            if match is None:
                return
            mark, position = match[0], match.end()
            if mark == "{":
                if self.depth:
                    self.depth += 1
                    continue
                head, body = self._open(text, head_start, match.start()), position
                end = self._end_of_plain_body(body) if self.depth else -1
                if end >= 0:
                    if head is not None:
                        yield self._function(head, body, end)
                    self.depth, position = 0, end + 1
            elif mark == "}":
                if self.depth > 1:
                    self.depth -= 1
                    continue
                if self.depth == 0:
                    del self.stack[max(len(self.stack) - 1, 1) :]
                elif head is not None:
                    yield self._function(head, body, match.start())
                self.depth = 0
            elif mark != "#":
                string = _STRING.match(text, match.start())
                position = string.end() if string else position
                continue
            else:
                directive = _DIRECTIVE.match(text, match.start())
                if directive is None or text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip():
                    continue
                position = directive.end()
                self._preprocess(directive[0])
            head_start = position

    def _end_of_plain_body(self, start: int) -> int:
        """The brace that closes the one before `start`, at memory speed; -1 where a string or directive comes first."""
        text = self.source.text
        for mark, at in self.marks.items():
            if at < start:
                self.marks[mark] = (text.find(mark, start) + 1 or len(text) + 1) - 1
        limit = min(self.marks.values())
        depth, position = 1, start
        while depth:
            end = text.find("}", position, limit)
            if end < 0:
                return -1
            depth += text.count("{", position, end) - 1
            position = end + 1
        return end

    def _open(self, text: str, head_start: int, brace: int) -> Optional[_Head]:
        begin = max(text.rfind(";", head_start, brace) + 1, head_start, brace - _MAX_HEAD)
        head = text[begin:brace].rstrip()
        inner = None if head.endswith(")") else self._scope(head[-4096:])
        if inner is not None:
            self.stack.append(inner)
            return None
        self.depth = 1
        return _function_head(head, self.wanted)

    def _scope(self, head: str) -> Optional[_Scope]:
        outer = self.stack[-1]
        namespace = _NAMESPACE.search(head)
        if namespace:
            name = namespace[1]
            return _Scope(f"{outer.namespace}::{name}" if outer.namespace and name else outer.namespace or name, "")
        declared = _CLASS.search(head)
        return _Scope(outer.namespace, declared[1]) if declared else None

    def _function(self, head: _Head, start: int, end: int) -> ScopedFunction:
        outer = self.stack[-1]
        qualifiers = [part for part in head.qualifier.split("::") if part]
        namespace = "::".join([outer.namespace, *qualifiers[:-1]]).strip(":")
        result = CAST_TYPES.get(head.result, CType.F64)
        function = Function(head.name, _parameters(head.parameters), result, self.source, start, end)
        return ScopedFunction(namespace, qualifiers[-1] if qualifiers else outer.class_name, function)

    def _preprocess(self, line: str) -> None:
        """Alternatives of `#if` start from the same open braces, so a brace opened in both counts once."""
        word = line[1:].lstrip()
        if word.startswith("if"):
            self.conditions.append((list(self.stack), self.depth))
        elif word.startswith("el") and self.conditions:
            stack, self.depth = self.conditions[-1]
            self.stack = list(stack)
        elif word.startswith("endif") and self.conditions:
            self.conditions.pop()


def _blank(match: re.Match[str]) -> str:
    text = match[0]
    if text[0] != "/":
        return text
    return " " * len(text) if "\n" not in text else _NO_LINE_END.sub(" ", text)


def _function_head(head: str, wanted: re.Pattern[str]) -> Optional[_Head]:
    """The head of a wanted function, such as `double A::GetPerf(…) const`; None for anything else."""
    while head and not head.endswith(")"):
        head, word = _last_word(head)
        if word not in _TRAILING:
            return None
    opening = _matching_parenthesis(head)
    named = _NAME_BACKWARDS.match(head[opening - 1 :: -1]) if opening > 0 else None
    name = named[1][::-1] if named else ""
    if named is None or not wanted.fullmatch(name):
        return None
    before = head[: opening - named.end()][-256:]
    words = _WORD.findall(_ACCESS.sub(" ", before) if ":" in before else before)
    return _Head(words[-1] if words else "", named[2][::-1], name, head[opening + 1 : -1])


def _last_word(head: str) -> Tuple[str, str]:
    end = len(head)
    begin = end
    while begin and (head[begin - 1].isalnum() or head[begin - 1] == "_"):
        begin -= 1
    return (head[:begin].rstrip(), head[begin:end]) if begin < end else (head, "")


def _matching_parenthesis(head: str) -> int:
    """The offset of the parenthesis that the last one closes; -1 when there is none."""
    opening = head.rfind("(")
    if head.count(")", opening) == 1:
        return opening
    depth = 0
    for position in range(len(head) - 1, -1, -1):
        if head[position] == ")":
            depth += 1
        elif head[position] == "(":
            depth -= 1
            if depth == 0:
                return position
    return -1


@lru_cache(maxsize=4096)
def _parameters(text: str) -> Tuple[Parameter, ...]:
    found = []
    for part in text.split(","):
        words = _WORD_OR_STAR.findall(part.partition("=")[0])
        words = [word for word in words if word != "const"]
        if len(words) >= 2:
            ctype = CAST_TYPES.get(words[0], CType.OBJECT) if len(words) == 2 else CType.OBJECT
            found.append(Parameter(words[-1], ctype))
    return tuple(found)
