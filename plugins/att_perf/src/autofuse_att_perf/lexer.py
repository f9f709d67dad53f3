"""Cuts the small C++ subset of generated tiling code into tokens, in linear time.

Comments are blanked beforehand (`autofuse_att_perf.scopes`); what no token begins with becomes a FormulaError.
"""

from __future__ import annotations

import re
from typing import List, NamedTuple

from autofuse_att_perf.errors import FormulaError
from autofuse_att_perf.tape import SourceText

__all__ = ["NAME", "NUMBER", "OPERATOR", "STRING", "Tokens", "tokenize"]

_LOOKAHEAD = 6

NUMBER, NAME, OPERATOR, STRING = 1, 2, 3, 4

# The four groups stand in the order of the codes above, so `lastindex` is the code.
_TOKEN = re.compile(
    r"((?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\w*)"
    r"|([^\W\d]\w*)"
    r"|(->|::|<<|>>|[<>=!+\-*/%]=|&&|\|\||[-+*/%<>=!(){}\[\],;.?:&|~^#])"
    r'|("(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\')'
    r"|\s+"
)


class Tokens(NamedTuple):
    """Parallel lists, closed by empty OPERATOR tokens, so that a parser may look a few tokens ahead."""

    kinds: List[int]
    texts: List[str]
    starts: List[int]


def tokenize(source: SourceText, start: int, end: int) -> Tokens:
    """The tokens of `source.text[start:end]`; offsets refer to the whole text."""
    kinds: List[int] = []
    texts: List[str] = []
    starts: List[int] = []
    position = start
    text = source.text
    for match in _TOKEN.finditer(text, start, end):
        if match.start() != position:
            break
        position = match.end()
        kind = match.lastindex
        if kind is not None:
            kinds.append(kind)
            texts.append(match[kind])
            starts.append(match.start())
    if position < end:
        raise FormulaError(f"unexpected character {text[position]!r}", source.place(position))
    kinds.extend([OPERATOR] * _LOOKAHEAD)
    texts.extend([""] * _LOOKAHEAD)
    starts.extend([end] * _LOOKAHEAD)
    return Tokens(kinds, texts, starts)
