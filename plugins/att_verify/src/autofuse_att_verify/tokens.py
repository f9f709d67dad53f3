"""The tokens of a preprocessed C++ header, and moving over them statement by statement.

What a statement declares is left to `header`.
"""

from __future__ import annotations

import re
from typing import List, Sequence

from autofuse_att_verify.layout import LayoutError

__all__ = ["Cursor", "split_declarators", "split_words", "tokens_of"]

_TOKEN = re.compile(
    r"#\s*pragma\s+pack\s*\([^)\n]*\)|#[^\n]*|[A-Za-z_]\w*|\d[\w']*|::|->|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|\S"
)
_LINE_MARK = re.compile(r'^# \d+ "([^"]*)"([ \d]*)$')


def tokens_of(preprocessed: str) -> List[str]:
    """The tokens of the header itself: neither system headers nor `[[attributes]]`."""
    return _without_attributes(_TOKEN.findall(_own_lines(preprocessed)))


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


def _without_attributes(tokens: Sequence[str]) -> List[str]:
    """Without `[[…]]`; no attribute in double brackets changes a layout."""
    kept: List[str] = []
    depth = 0
    for at, token in enumerate(tokens):
        if token == "[" and (depth or tokens[at + 1 : at + 2] == ["["]):
            depth += 1
        if not depth:
            kept.append(token)
        if token == "]" and depth:
            depth -= 1
    return kept


class Cursor:
    """A place among the tokens."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = tokens
        self.at = 0

    def peek(self, ahead: int = 1) -> str:
        """A token further on; `""` beyond the end."""
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ""

    def parenthesised(self) -> List[str]:
        """A group in parentheses, which it goes past; nothing when there is none here."""
        if self.peek(0) != "(":
            return []
        start, depth = self.at, 0
        while self.at < len(self.tokens):
            depth += (self.tokens[self.at] == "(") - (self.tokens[self.at] == ")")
            self.at += 1
            if depth == 0:
                break
        return list(self.tokens[start : self.at])

    def statement(self) -> List[str]:
        """The tokens up to the `;` that ends the statement, braces balanced."""
        start, depth = self.at, 0
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            depth += (token in "{(") - (token in "})")
            self.at += 1
            if token == ";" and depth <= 0:
                return list(self.tokens[start : self.at - 1])
        raise LayoutError("the header ends within a declaration")

    def skip_statement(self) -> None:
        """Past a `;` or past a body in braces, whichever ends it."""
        depth = 0
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token == "{" and depth == 0:
                self.skip_braces()
                return
            depth += (token == "(") - (token == ")")
            self.at += 1
            if token == ";" and depth <= 0:
                return

    def skip_braces(self) -> None:
        """Past the body that begins here."""
        depth = 0
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            depth += (token == "{") - (token == "}")
            self.at += 1
            if depth == 0:
                return


def split_declarators(statement: Sequence[str]) -> List[List[str]]:
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


def split_words(words: Sequence[str]) -> List[List[str]]:
    """The words between top-level commas."""
    parts: List[List[str]] = [[]]
    depth = 0
    for word in words:
        depth += (word in "({") - (word in ")}")
        if word == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts
