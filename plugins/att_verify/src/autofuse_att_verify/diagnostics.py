"""The first error in the output of compilers and linkers, with the file and line of SOURCE_DIR that it is about."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import List, Optional, Tuple

__all__ = ["Diagnostic", "first_error"]

# GCC and clang alike: `file:line:column: error: text`; the column may be switched off.
_LOCATED = re.compile(
    r"^(?P<file>[^\s:][^:\n]{0,1000}):(?P<line>\d{1,9}):(?:(?P<column>\d{1,9}):)? (?:fatal )?error: (?P<text>[^\n]*)$",
    re.MULTILINE,
)
_LINKER = re.compile(
    r"^[^\n]*?(?P<text>(?:undefined reference to|cannot find|multiple definition of|file in wrong format"
    r"|file not recognized|incompatible target|skipping incompatible|undefined symbol:|unable to find library)[^\n]*)$",
    re.MULTILINE,
)
_CMAKE = re.compile(r"^(?P<text>CMake Error[^\n]*(?:\n+[ \t]+[^\n]+)+)", re.MULTILINE)
_ANY = re.compile(r"^[^\n]*(?:\berror\b|\bError\b|CMake Error)[^\n]*$", re.MULTILINE)
_MISSING_HEADER = re.compile(r"^'?([^':]+)'?(?:: No such file or directory| file not found)")


@dataclass(frozen=True)
class Diagnostic:
    """One error; `file` and `line` are None where the message names none."""

    text: str
    file: Optional[str] = None
    line: Optional[int] = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}" if self.file else self.text

    @property
    def missing_header(self) -> Optional[str]:
        """The header that the compiler did not find where a source includes it."""
        found = _MISSING_HEADER.match(self.text) if self.file else None
        return found[1] if found else None


def first_error(output: str) -> Optional[Diagnostic]:
    """The first error of the output; translation units compile in parallel, so the first by file name and line."""
    located = [
        Diagnostic(found["text"].strip(), found["file"], int(found["line"])) for found in _LOCATED.finditer(output)
    ]
    if located:
        return min(located, key=_place)
    for pattern, group in ((_LINKER, "text"), (_CMAKE, "text"), (_ANY, 0)):
        found = pattern.search(output)
        if found:
            return Diagnostic(_one_line(found[group]))
    lines: List[str] = [line for line in output.splitlines() if line.strip()]
    return Diagnostic(_one_line(lines[-1])) if lines else None


def _place(error: Diagnostic) -> Tuple[bool, str, int]:
    # A header that is not there is the cause of what follows in other files.
    return (error.missing_header is None, error.file or "", error.line or 0)


def _one_line(text: str) -> str:
    return " ".join(text.split())[:500]
