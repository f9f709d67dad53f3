"""Constant integer expressions of C++ headers, as array sizes and enumerators use them."""

from __future__ import annotations

import ast
import re
from typing import Callable, Dict, List, Sequence

from autofuse_att_verify.layout import LayoutError

__all__ = ["evaluate"]

_LONGEST = 200
_ALLOWED = re.compile(r"[\d\sxXa-fA-F+\-*/()%<>|&]+")


def evaluate(words: Sequence[str], constants: Dict[str, int], size_of: Callable[[Sequence[str]], int]) -> int:
    """The value of the expression; `size_of` answers for sizeof and alignof. LayoutError when it is no such thing."""
    text = " ".join(_literals(list(words), constants, size_of)).replace("< <", "<<")
    if len(text) > _LONGEST or not _ALLOWED.fullmatch(text):
        raise LayoutError(f"array size {text[:40]!r}")
    try:
        return _value(ast.parse(text.replace("/", "//"), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError):
        raise LayoutError(f"array size {text[:40]!r}") from None


def _literals(words: List[str], constants: Dict[str, int], size_of: Callable[[Sequence[str]], int]) -> List[str]:
    """The words with names, suffixes, sizeof and qualifications replaced by numbers."""
    found: List[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        if word == "sizeof" and ")" in words[at:]:
            end = words.index(")", at)
            found.append(str(size_of(words[at + 2 : end])))
            at = end
        elif words[at + 1 : at + 2] == ["::"]:
            at += 1  # the last component tells
        elif word != "::":
            found.append(_number(word, constants))
        at += 1
    return found


def _number(word: str, constants: Dict[str, int]) -> str:
    if word in constants:
        return str(constants[word])
    if not word[0].isdigit():
        return word
    # Hexadecimal digits are no suffix, and a leading 0 means octal there.
    plain = re.sub(r"[uUlL]+$", "", word).replace("'", "")
    return str(int(plain, 8)) if re.fullmatch(r"0[0-7]+", plain) else plain


_OPERATORS: Dict[type, Callable[[int, int], int]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.BitOr: lambda a, b: a | b,
    ast.BitAnd: lambda a, b: a & b,
}


def _value(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _value(node.left), _value(node.right)
        if max(abs(left), abs(right)) < 1 << 40:
            return _OPERATORS[type(node.op)](left, right)
        raise ValueError("too large")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.LShift):
        left, right = _value(node.left), _value(node.right)
        if 0 <= right < 40 and 0 <= left < 1 << 20:
            return left << right
    raise ValueError("no constant")
