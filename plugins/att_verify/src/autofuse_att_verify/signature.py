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
    problem: Optional[str] = None
    """Why no ABI kind fits it; None when one does."""

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

_DECLARATION = re.compile(r"\b(?P<before>[A-Za-z_]\w*)\s+AutofuseTiling\s*\(")
_NO_TYPE = ("return", "else", "case", "throw", "new", "goto", "co_return")
# What can stand between the type and the name of a parameter, or around them, without changing what is passed.
_QUALIFIER = re.compile(r"\b(?:const|volatile|struct|std|register)\b|::|\[\[[^\]]*\]\]")
_WORD = re.compile(r"(?:u?int(?:_least|_fast)?32_t|(?:signed|unsigned)?\s?int|unsigned|signed)(?:\s+\w+)?$")
_OTHER_NUMBER = re.compile(
    r"(?:u?int(?:8|16|64)_t|size_t|(?:unsigned |signed )?(?:char|short|long)(?: long)?(?: int)?|float|double|bool)"
    r"(?: \w+)?$"
)
_FIND_KEY = re.compile(r"\b([A-Za-z_]\w*)\s+FindBestTilingKey\s*\(([^()]*)\)")
_LIMIT = re.compile(r"\bResLimit\s+\w+\s*(?:=\s*)?\{([^{}]*)")
_FACTOR = re.compile(r"\s*(0[xX][0-9a-fA-F]+|\d+|[A-Za-z_]\w*(?:::\w+)*)[uUlL]*\s*")
_MOST_CORES = 65535
_DATA = re.compile(r"((?:::)?(?:\w+::)*\w+)\s*[*&]")


def read_signature(texts: Iterable[str]) -> Optional[Signature]:
    """The signature of AutofuseTiling in the sources, rather a definition than a declaration; None without either."""
    declared: Optional[Signature] = None
    for text in texts:
        joined = text.replace("\\\n", " ")
        for found in _DECLARATION.finditer(joined):
            inside = _parameters(joined, found.end())
            if inside is None or found["before"] in _NO_TYPE:
                continue
            end = found.end() + len(inside) + 1
            signature = _signature(" ".join(found[0].split()), _split(inside))
            if signature is not None and re.match(r"[^;{}()]*\{", joined[end : end + 200]):
                return signature
            declared = declared or signature
    return declared


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

    The constant reads `{valid_num, aiv_num, aic_num, ub_size, {}}`, each a number, a named one, or a product of these.
    """
    sources = list(texts)
    for text in sources:
        for found in _LIMIT.finditer(text):
            values = [part.strip() for part in found[1].split(",")]
            named = [part for part in values if re.match(r"\.aiv_num\s*=", part)]
            positional = values[1:2] if not any(part.startswith(".") for part in values) else []
            for part in [*named, *positional]:
                cores = _product(part.rpartition("=")[2], sources)
                if cores is not None and 1 <= cores <= _MOST_CORES:
                    return cores
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


def _parameters(text: str, start: int) -> Optional[str]:
    """The text from after the opening parenthesis to its partner."""
    depth = 1
    for at in range(start, min(len(text), start + 20000)):
        if text[at] == "(":
            depth += 1
        elif text[at] == ")":
            depth -= 1
        elif text[at] in ";{}" and depth == 1:
            return None
        if depth == 0:
            return text[start:at]
    return None


def _split(inside: str) -> List[str]:
    """The parameters between top-level commas, white space collapsed, defaults left out."""
    parts: List[str] = [""]
    depth = 0
    for char in inside:
        depth += (char in "(<[") - (char in ")>]")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    words = [" ".join(part.partition("=")[0].split()) for part in parts]
    return [] if words in ([""], ["void"]) else words


def _signature(head: str, parameters: List[str]) -> Optional[Signature]:
    """What the parameters say; None when they are no parameters (a macro that stands for them)."""
    if len(parameters) == 1 and re.fullmatch(r"[A-Z_][A-Z0-9_]*", parameters[0]):
        return None
    first = next((at for at, part in enumerate(parameters) if "*" in part or "&" in part), len(parameters))
    rest = parameters[first:]
    plain = [" ".join(_QUALIFIER.sub(" ", part).split()) for part in parameters[:first]]
    symbols = tuple(_name(part, at) for at, part in enumerate(plain))
    data = _DATA.match(re.sub(r"\b(?:const|struct|volatile)\b", "", rest[0]).strip()) if rest else None
    if rest and data is None:
        return None  # a macro stands for some of the parameters
    kind = _kind(rest)
    return Signature(
        f"{head}{', '.join(parameters)})",
        symbols,
        kind,
        data[1] if data and data[1] != "void" else "",
        _problem(plain, symbols, kind),
    )


def _name(part: str, at: int) -> str:
    words = part.split()
    types = ("int", "unsigned", "signed", "long", "short", "char")
    return words[-1] if len(words) > 1 and words[-1] not in types else f"s{at}"


def _kind(rest: List[str]) -> str:
    """By number and nature of what follows the symbols: three outputs, and a ResLimit or two numbers."""
    pointers = ["*" in part or "&" in part for part in rest]
    if pointers == [True] * 4:
        return "inductor"
    return "tf" if pointers == [True, True, True, False, False] else ""


def _problem(plain: List[str], symbols: Tuple[str, ...], kind: str) -> Optional[str]:
    for part, name in zip(plain, symbols):
        if not _WORD.match(part) and _OTHER_NUMBER.match(part):
            return f"the shape symbol {name} is no uint32_t"
    return None if kind else "its parameters are of no ABI kind"


def _product(text: str, sources: List[str], depth: int = 0) -> Optional[int]:
    """The value of a product of numbers and named constants; None when it is something else."""
    value = 1
    for part in text.strip().strip("()").split("*"):
        found = _FACTOR.fullmatch(part)
        if found is None:
            return None
        factor = int(found[1], 0) if found[1][0].isdigit() else _constant(found[1], sources, depth)
        if factor is None:
            return None
        value *= factor
    return value


def _constant(name: str, sources: List[str], depth: int) -> Optional[int]:
    last = re.escape(name.rpartition("::")[2])
    definition = re.compile(
        rf"\b(?:(?:const|constexpr)\b[^;={{}}()]*\b{last}\s*[={{]|define[ \t]+{last}[ \t])([^;\n}}]+)"
    )
    for text in sources if depth < 4 else ():
        found = definition.search(text)
        if found:
            return _product(found[1], sources, depth + 1)
    return None
