"""What happens to logs on the way: lines lost, doubled, swapped, cut by the line limit or the end of the file.

Damage to text works on `LogFile`s, damage to FINAL_TILING frames on the list of their lines.
"""

from __future__ import annotations

import dataclasses
import random
from typing import Callable, List, Sequence

from logwriter.files import Line, LogFile

__all__ = ["DAMAGES", "cut_file", "cut_lines", "lose", "mutate"]


def lose(files: Sequence[LogFile], lost: Callable[[Line], bool]) -> List[LogFile]:
    """The files without the lines that are lost."""
    return [file.keep(lambda line: not lost(line)) for file in files]


def cut_lines(file: LogFile, limit: int = 1023) -> LogFile:
    """Every line cut at `limit` bytes with its newline, as the log daemon does it."""
    return dataclasses.replace(file, lines=tuple(Line(line.data[: limit - 1], line.entry) for line in file.lines))


def cut_file(file: LogFile, size: int) -> LogFile:
    """The first `size` bytes of the file as one nameless line; what it was made of is not known any more."""
    return LogFile(file.name, file.process, (Line(file.data[:size]),), file.pid, last_line_end=False)


def mutate(line: bytes, other: bytes, chance: random.Random) -> bytes:
    """A real-looking line with a few bytes cut, changed, doubled or taken from another line."""
    for _ in range(chance.randint(1, 3)):
        start, end = sorted(chance.choices(range(len(line) + 1), k=2))
        kind = chance.randrange(7)
        if kind == 0:
            line = line[:start]
        elif kind == 1:
            line = line[:start] + other[start:]
        elif kind == 2:
            line = line[:start] + line[end:]
        elif kind == 3:
            line = line[:start] + bytes([chance.randrange(256)]) + line[start + 1 :]
        elif kind == 4:
            line = line[:end] + line[start:]
        elif kind == 5:
            line = line[:start] + chance.choice(_TOKENS) + line[start:]
        else:
            line = line[:start] + chance.choice(_TOKENS) + line[end:]
    return line.replace(b"\n", b" ")


_TOKENS = (
    *(
        b"[",
        b"]",
        b"[]",
        b" ",
        b".",
        b"\t",
        b"0",
        b"R",
        b"-1",
        b"99999999999999999999",
        b"\x1b[0m",
        b"\x1b",
        b"\0",
        b"\xff",
    ),
    *(b"[PROF]", b"[ATT]", b"[INFO]", b"[ERROR]", b"[Add]", b"Start GetTiling.", b"The value of graph0_result0 is 1"),
    *(b" is ", b" in ", b"graph", b"ErrorNo: 4294967295()", b" GE(1,x):", b"nan", b"inf", b"1e5", b" score is 1"),
)


# --- frames -----------------------------------------------------------------------------------------------------------


def _changed(lines: List[str], at: int, chance: random.Random) -> List[str]:
    """One character of a payload becomes another."""
    text = lines[at]
    begin, end = text.index('data="') + 6, len(text) - 1
    place = chance.randrange(begin, end)
    while text[place] == "\\" or text[place - 1] == "\\":
        place = chance.randrange(begin, end)
    other = "x" if text[place] != "x" else "y"
    return [*lines[:at], text[:place] + other + text[place + 1 :], *lines[at + 1 :]]


def _lost(lines: List[str], at: int, chance: random.Random) -> List[str]:
    return [*lines[:at], *lines[at + 1 :]]


def _doubled(lines: List[str], at: int, chance: random.Random) -> List[str]:
    return [*lines[: at + 1], *lines[at:]]


def _swapped(lines: List[str], at: int, chance: random.Random) -> List[str]:
    """With the next chunk, or the one before where there is none."""
    other = at + 1 if at + 2 < len(lines) else at - 1
    swapped = list(lines)
    swapped[at], swapped[other] = swapped[other], swapped[at]
    return swapped


DAMAGES = {"changed": _changed, "lost": _lost, "doubled": _doubled, "swapped": _swapped}
"""Each damages the chunk at an index of the lines of one frame; `swapped` needs two chunks."""
