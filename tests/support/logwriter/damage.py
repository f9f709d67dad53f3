"""What happens to logs on the way: lines lost, lines broken, files cut. (The line limit is a matter of `wrap.Plog`.)"""

from __future__ import annotations

import random
from typing import Callable, List, Sequence

from logwriter.files import Line, LogFile

__all__ = ["cut_file", "lose", "mutate"]


def lose(files: Sequence[LogFile], lost: Callable[[Line], bool]) -> List[LogFile]:
    """The files without the lines that are lost."""
    return [file.keep(lambda line: not lost(line)) for file in files]


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
