"""Regular expressions of other people, accepted only when searching a line takes time linear in its length.

The parse tree of `re` is analysed: no repeat inside a repeat, no look-around or back reference, no two repeats that can
share the same characters in many ways. Where google-re2 is installed it does the search.
"""

from __future__ import annotations

import importlib
import re
import sys
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Protocol, Sequence, Tuple

__all__ = ["LinearPattern", "Match", "NotLinear", "compile_linear"]

_parser: Any = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")

_MAX_PATHS = 256
_MAX_LENGTH = 2000
_OTHER = 128
"""Stands for all characters beyond ASCII."""
_ALL = (1 << (_OTHER + 1)) - 1


class NotLinear(ValueError):
    """Why a pattern is refused."""


class Match(Protocol):
    """What is used of a match, of `re` or re2."""

    def groupdict(self) -> Dict[str, Optional[str]]:
        """Name → text of every named group; None for one that took no part."""


class LinearPattern(Protocol):
    """A compiled pattern of `re` or re2."""

    def search(self, text: str, /) -> Optional[Match]:
        """The first match anywhere in the text."""

    def finditer(self, text: str, /) -> Iterator[Match]:
        """All matches that do not overlap, from left to right."""


def compile_linear(pattern: str) -> Tuple[LinearPattern, Tuple[str, ...]]:
    """The compiled pattern and the names of its groups; NotLinear, or re.error where it is no pattern at all.

    Character classes (`\\d`, `\\w`, `\\s`) are ASCII.
    """
    try:
        # RecursionError and OverflowError: nesting and counts beyond what `re` can hold.
        tree = _parser.parse(pattern, re.ASCII)
        compiled = re.compile(pattern, re.ASCII)
    except (RecursionError, OverflowError) as error:
        raise NotLinear(f"is too large: {error}") from error
    if compiled.flags & ~re.ASCII:
        raise NotLinear("inline flags such as (?i) are not supported")
    for path in _paths(_elements(tree), _Budget()):
        _check_path(path)
    names = tuple(sorted(compiled.groupindex, key=lambda name: compiled.groupindex[name]))
    return _with_re2(pattern) or compiled, names


def _with_re2(pattern: str) -> Optional[LinearPattern]:
    try:
        import re2
    except ImportError:
        return None
    options = re2.Options()
    options.log_errors = False
    try:
        found: LinearPattern = re2.compile(pattern, options)
    except re2.error:
        return None  # a syntax that only `re` knows; the analysis holds all the same
    return found


class _Set(NamedTuple):
    """One mandatory character out of a set."""

    characters: int
    """One bit per ASCII character, and `_OTHER`."""


class _Repeat(NamedTuple):
    """Any number of characters out of a set."""

    characters: int
    text: str


class _Choice(NamedTuple):
    """Alternatives; an optional part is one with an empty alternative."""

    alternatives: Tuple[Tuple[Any, ...], ...]


class _Begin(NamedTuple):
    """`^` or `\\A`."""


class _End(NamedTuple):
    """`$`, `\\Z`, `\\B`: takes no character and can fail."""


class _WordEdge(NamedTuple):
    """`\\b`: a repeat of word characters only, or of none, cannot run over it."""


class _Budget:
    def __init__(self) -> None:
        self.left = _MAX_PATHS

    def spend(self) -> None:
        """One more way through the pattern."""
        self.left -= 1
        if self.left < 0:
            raise NotLinear(f"has more than {_MAX_PATHS} combinations of alternatives and optional parts")


# --- from the parse tree to elements ---------------------------------------------------------------------------------


def _elements(tree: Iterable[Tuple[Any, Any]]) -> Tuple[Any, ...]:
    return tuple(element for op, argument in tree for element in _element(str(op), argument))


def _element(op: str, argument: Any) -> Sequence[Any]:
    if op in ("LITERAL", "NOT_LITERAL", "ANY", "IN", "CATEGORY", "RANGE"):
        return (_Set(_characters(op, argument)),)
    if op == "SUBPATTERN":
        return _elements(argument[3])
    if op == "BRANCH":
        return (_Choice(tuple(_elements(alternative) for alternative in argument[1])),)
    if op in ("MAX_REPEAT", "MIN_REPEAT"):
        return _repeat(*argument)
    if op == "AT":
        # Without the flag MULTILINE `^` holds at the begin of the text only.
        return (_ANCHORS.get(str(argument), _End()),)
    raise NotLinear(f"{_NAMES.get(op, op.lower())} is not supported")


_ANCHORS = {"AT_BEGINNING": _Begin(), "AT_BEGINNING_STRING": _Begin(), "AT_BOUNDARY": _WordEdge()}
_NAMES = {
    "ASSERT": "a look-around",
    "ASSERT_NOT": "a look-around",
    "GROUPREF": "a back reference",
    "GROUPREF_EXISTS": "a conditional group",
    "ATOMIC_GROUP": "an atomic group",
    "POSSESSIVE_REPEAT": "a possessive repeat",
}


def _repeat(least: int, most: Any, body: Any) -> Sequence[Any]:
    content = _elements(body)
    if str(most) != "MAXREPEAT":
        return _bounded(least, int(most), content)
    characters = _unambiguous(content)
    required = content if least else ()
    return (*required, _Repeat(characters, "a repeat"))


def _bounded(least: int, most: int, content: Tuple[Any, ...]) -> Sequence[Any]:
    if (least, most) == (0, 1):
        return (_Choice((content, ())),)
    if most > 1000:
        raise NotLinear(f"the count {most} is over 1000")
    if least == most and _is_fixed(content):
        if len(content) * most > _MAX_LENGTH:
            raise NotLinear(f"is longer than {_MAX_LENGTH} characters")
        return content * most
    # As far as time goes {2,5} is at most five characters, but they can be shared out like those of a repeat.
    return (*(content if least else ()), _Repeat(_unambiguous(content), "a repeat"))


def _unambiguous(content: Tuple[Any, ...]) -> int:
    """All characters of a repeat's content, which must have one way only to match."""
    if not content:
        raise NotLinear("a repeat of nothing")
    for element in content:
        if isinstance(element, _Repeat):
            raise NotLinear("a repeat inside a repeat takes exponential time")
        if isinstance(element, (_Begin, _End, _WordEdge)):
            raise NotLinear("an anchor inside a repeat is not supported")
        if isinstance(element, _Choice):
            _check_choice(element)
    return _all_characters(content)


def _check_choice(choice: _Choice) -> None:
    taken = 0
    for alternative in choice.alternatives:
        if not alternative:
            raise NotLinear("an optional part inside a repeat takes exponential time")
        _unambiguous(alternative)
        first = alternative[0]
        if not isinstance(first, _Set):
            raise NotLinear("nested alternatives inside a repeat are not supported")
        if taken & first.characters:
            raise NotLinear("alternatives inside a repeat begin with the same character")
        taken |= first.characters


def _all_characters(content: Iterable[Any]) -> int:
    found = 0
    for element in content:
        if isinstance(element, _Choice):
            for alternative in element.alternatives:
                found |= _all_characters(alternative)
        elif isinstance(element, (_Set, _Repeat)):
            found |= element.characters
    return found


def _is_fixed(content: Iterable[Any]) -> bool:
    return all(isinstance(element, _Set) for element in content)


# --- character sets --------------------------------------------------------------------------------------------------


def _characters(op: str, argument: Any) -> int:
    if op == "LITERAL":
        return 1 << min(int(argument), _OTHER)
    if op == "NOT_LITERAL":
        # Beyond ASCII one character less makes no difference to the set.
        return _ALL & ~(1 << argument) if argument < _OTHER else _ALL
    if op == "ANY":
        return _ALL & ~(1 << ord("\n"))
    if op == "RANGE":
        low, high = argument
        return sum(1 << code for code in range(min(low, _OTHER), min(high, _OTHER) + 1))
    if op == "CATEGORY":
        return _category(str(argument))
    negated = bool(argument) and str(argument[0][0]) == "NEGATE"
    found = 0
    for inner, value in argument[1:] if negated else argument:
        found |= _characters(str(inner), value)
    # A class that names some characters beyond ASCII does not exclude the others.
    return (_ALL & ~(found & ~(1 << _OTHER))) if negated else found


def _category(name: str) -> int:
    pattern = _CATEGORIES.get(name.rpartition("_")[2])
    if pattern is None:
        raise NotLinear(f"the class {name} is not supported")
    found = sum(1 << code for code in range(_OTHER) if re.match(pattern, chr(code), re.ASCII))
    return _ALL & ~found if "NOT" in name else found


_CATEGORIES = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}


# --- the paths through the pattern -----------------------------------------------------------------------------------


def _paths(elements: Tuple[Any, ...], budget: _Budget) -> Iterator[List[Any]]:
    """Every way through the alternatives, as a plain sequence of sets, repeats and anchors."""
    for index, element in enumerate(elements):
        if isinstance(element, _Choice):
            for alternative in element.alternatives:
                yield from _paths(elements[:index] + tuple(alternative) + elements[index + 1 :], budget)
            return
    budget.spend()
    yield list(elements)


def _check_path(path: List[Any]) -> None:
    """Refuses a path on which one repeat is begun again for many positions of another, or of the search itself.

    The search tries every position, so it acts as a repeat of any character before the pattern, unless that begins with
    an anchor. A repeat at the very end cannot fail, so it runs once.
    """
    repeats = [index for index, element in enumerate(path) if isinstance(element, _Repeat)]
    anchored = bool(path) and isinstance(path[0], _Begin)
    for position in repeats:
        if position == len(path) - 1:
            continue
        if not anchored and not _separated(path[:position], _ALL, path[position].characters):
            raise NotLinear(
                "the search begins a repeat again at every character; begin the pattern with ^, with \\b before a "
                "word, or with characters that the repeat cannot match"
            )
        for earlier in repeats[: repeats.index(position)]:
            one, other = path[earlier].characters, path[position].characters
            if one & other and not _separated(path[earlier + 1 : position], one, other):
                raise NotLinear("two repeats can match the same characters, with nothing between them to part them")


def _separated(between: Sequence[Any], one: int, other: int) -> bool:
    """Whether something mandatory stands between two repeats that one of them cannot run over."""
    sets = [element.characters for element in between if isinstance(element, _Set)]
    edges = any(isinstance(element, _WordEdge) for element in between)
    words = _category("WORD")
    if edges and any(not (characters & words) or not (characters & ~words) for characters in (one, other)):
        return True
    return any(not (characters & one) or not (characters & other) for characters in sets)
