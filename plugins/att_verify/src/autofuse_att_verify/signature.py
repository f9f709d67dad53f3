"""What the generated source says of its own interface: AutofuseTiling's parameters, key functions, the default limit.

Comments and strings are blanked first; nothing is compiled here. A source whose signature is not found gives None and
the call is made as the contract says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Iterable, List, Optional, Tuple

__all__ = ["Signature", "default_aiv_num", "finds_tiling_key", "key_bits", "read_signature", "without_comments"]


@dataclass(frozen=True)
class Signature:
    """The declaration of AutofuseTiling."""

    text: str
    """As it stands in the source, white space collapsed."""
    symbols: Tuple[str, ...]
    """Names of the shape symbols, in order."""
    kind: str
    """`tf` or `inductor`; `""` when the parameters after the symbols are of neither."""
    data_type: str
    """Name of the tiling data struct."""

    @property
    def kind_text(self) -> str:
        """The ABI kind that fits, as a contract names it."""
        if self.kind == "inductor":
            return "inductor"
        return "tf_dynamic" if self.symbols else "tf_static"


# A comment or literal begins at the leftmost of these; each is closed by its own rule, so the scan is linear.
_OPENING = re.compile(r'//|/\*|R"([^\s()\\]{0,16})\(|"|\'')
_LINE_END = re.compile(r"(?<!\\)\n")
_QUOTED_END = {'"': re.compile(r'(?:[^"\\\n]|\\.)*"', re.DOTALL), "'": re.compile(r"(?:[^'\\\n]|\\.)*'", re.DOTALL)}

_DECLARATION = re.compile(r"\b(?:int64_t|long|long\s+long)\s+AutofuseTiling\s*\(")
_FIND_KEY = re.compile(r"\b([A-Za-z_]\w*)\s+FindBestTilingKey\s*\(([^()]*)\)")
_LIMIT = re.compile(r"\bResLimit\s+\w+\s*(?:=\s*)?\{([^{}]*)")
_PRODUCT = re.compile(r"\s*\d+[uUlL]*\s*(?:\*\s*\d+[uUlL]*\s*)*")


def read_signature(texts: Iterable[str]) -> Optional[Signature]:
    """The signature of AutofuseTiling in the sources; None when none of them declares it."""
    for text in texts:
        found = _DECLARATION.search(text)
        if found:
            parameters = _parameters(text, found.end())
            if parameters is not None:
                return _signature(" ".join(text[found.start() : found.end()].split()), parameters)
    return None


def finds_tiling_key(texts: Iterable[str]) -> bool:
    """Whether FindBestTilingKey takes the tiling data and nothing else, so that it can be called."""
    return any(
        "," not in found[2] and "TilingData" in found[2]
        for text in texts
        for found in _FIND_KEY.finditer(text)
        if found[1] not in ("return", "else")
    )


def key_bits(texts: Iterable[str]) -> Tuple[int, bool]:
    """Width and signedness of what FindBestTilingKey returns; 32 bits, unsigned, when it cannot be told."""
    types = {
        "int": (32, True),
        "int32_t": (32, True),
        "int64_t": (64, True),
        "long": (64, True),
        "size_t": (64, False),
        "uint64_t": (64, False),
    }
    for text in texts:
        for found in _FIND_KEY.finditer(text):
            if found[1] not in ("return", "else"):
                return types.get(found[1], (32, False))
    return 32, False


def default_aiv_num(texts: Iterable[str]) -> Optional[int]:
    """The number of vector cores in the ResLimit constant that inductor code falls back to; None when not found.

    The constant reads `{valid_num, aiv_num, aic_num, ub_size, {}}`, each a number or a product of numbers.
    """
    for text in texts:
        for found in _LIMIT.finditer(text):
            values = found[1].split(",")
            if len(values) >= 4 and all(_PRODUCT.fullmatch(value) for value in values[:4]):
                return _product(values[1])
    return None


def without_comments(text: str) -> str:
    """The text with comments, string and character literals blanked; line breaks stay."""
    out: List[str] = []
    at = 0
    while True:
        found = _OPENING.search(text, at)
        if found is None:
            out.append(text[at:])
            return "".join(out)
        out.append(text[at : found.start()])
        at = _closing(text, found)
        out.append(re.sub(r"[^\n]", " ", text[found.start() : at]))


def _closing(text: str, found: re.Match[str]) -> int:
    opening = found[0]
    if opening == "//":
        end = _LINE_END.search(text, found.end())
        return end.start() if end else len(text)
    if opening == "/*" or opening.startswith("R"):
        closing = "*/" if opening == "/*" else f'){found[1]}"'
        at = text.find(closing, found.end())
        return len(text) if at < 0 else at + len(closing)
    if opening == "'" and found.start() and (text[found.start() - 1].isalnum()):
        return found.end()  # a digit separator: 1'000
    quoted = _QUOTED_END[opening].match(text, found.end())
    return quoted.end() if quoted else found.end()


def _parameters(text: str, start: int) -> Optional[List[str]]:
    """The parameters from after the opening parenthesis to its partner."""
    depth = 1
    for at in range(start, min(len(text), start + 20000)):
        if text[at] == "(":
            depth += 1
        elif text[at] == ")":
            depth -= 1
        elif text[at] in ";{}" and depth == 1:
            return None
        if depth == 0:
            inside = text[start:at].strip()
            return [" ".join(part.split()) for part in inside.split(",")] if inside and inside != "void" else []
    return None


def _signature(head: str, parameters: List[str]) -> Signature:
    symbols: List[str] = []
    rest = list(parameters)
    while rest and re.fullmatch(r"(?:const )?(?:std::)?(?:uint32_t|unsigned int|unsigned)( \w+)?", rest[0]):
        symbols.append(rest.pop(0).split()[-1])
    types = [
        re.sub(r"\s*\w+\s*(=.*)?$", "", part).replace(" ", "") if " " in part or "*" in part else part for part in rest
    ]
    data = re.match(r"(?:struct )?((?:\w+::)*\w+)\s*\*", rest[0]) if rest else None
    return Signature(
        f"{head}{', '.join(parameters)})", tuple(symbols), _kind(types) if data else "", data[1] if data else ""
    )


def _kind(types: List[str]) -> str:
    if len(types) == 4 and "ResLimit" in types[3] and types[3].endswith("*"):
        return "inductor"
    if len(types) == 5 and all(part.endswith("uint32_t") for part in types[3:]):
        return "tf"
    return ""


def _product(text: str) -> int:
    value = 1
    for factor in re.findall(r"\d+", text):
        value *= int(factor)
    return value
