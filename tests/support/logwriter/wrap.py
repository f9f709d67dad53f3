"""What stands around a message: plog lines of every variant, bare lines, and what users and containers put before them.

A wrapping turns one entry into the bytes of one line without its line end, or None where it has no way to say it.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import Callable, Mapping, Optional, Tuple

from logwriter.entries import Entry

__all__ = ["OUTER", "Bare", "Outer", "Plog", "Wrapping", "time_text"]

Outer = Callable[[bytes, int, random.Random], bytes]
"""Puts something around a line; gets its number and a source of chance."""


@dataclass(frozen=True)
class Plog:
    """`[LEVEL] MODULE(pid,pname):time [file:line]tid Func:[OP]message`"""

    tid_blanks: int = 0
    before_tid: str = ""
    """`[status:INIT]`, `[EVENT]`"""
    blanks: int = 0
    """Between `[OP]` and the text: none but in old fixtures."""
    error_blanks: int = 0
    process: str = "({pid},{name}):"
    """`( {pid}, {name}):`, `({pid},):`, `({pid},{name}) :`"""
    limit: int = 1023
    """Bytes of a line with its newline; the rest is cut."""
    tells_process: bool = True

    def __call__(self, entry: Entry, number: int) -> Optional[bytes]:
        process = self.process.format(pid=entry.origin.pid, name=entry.process_name[:15])
        where = f"[{entry.file}:{entry.line}]{' ' * self.tid_blanks}{self.before_tid}{entry.origin.tid}"
        head = f"[{entry.level}] {entry.module}{process}{time_text(number)} {where} {entry.function}:"
        if entry.level == "ERROR":
            head += " ErrorNo: 4294967295()" + " " * self.error_blanks
        operator = "" if entry.operator is None else f"[{entry.operator}]{' ' * self.blanks}"
        return (head + operator + entry.text).encode()[: self.limit - 1]


@dataclass(frozen=True)
class Bare:
    """`[Op] [PROF]…`, `[Op][PROF]…`, `[INFO] [Op] [PROF]…`, `[INFO][Op]text`: nothing tells the process."""

    form: str = "[{operator}] {text}"
    tells_process: bool = False

    def __call__(self, entry: Entry, number: int) -> Optional[bytes]:
        if entry.kind == "empty_error":
            return None
        if entry.operator is None:
            return f"[{entry.level}] {entry.text}".encode()
        return self.form.format(operator=entry.operator, text=entry.text, level=entry.level).encode()


@dataclass(frozen=True)
class Wrapping:
    """A line form, and what stands around it."""

    line: Plog | Bare = Plog()
    outer: Tuple[str, ...] = ()
    """Names in `OUTER`, from the inside out."""

    def __call__(self, entry: Entry, number: int, chance: random.Random) -> Optional[bytes]:
        line = self.line(entry, number)
        return None if line is None else self.around(line, number, chance)

    def around(self, line: bytes, number: int, chance: random.Random) -> bytes:
        """Puts the outer parts around a line that is wrapped already."""
        for name in self.outer:
            line = OUTER[name](line, number, chance)
        return line


def time_text(number: int) -> str:
    """The local time of the n-th line: a line every 37 microseconds."""
    micros = 6_145_178_281 + number * 37
    seconds, micros = divmod(micros, 1_000_000)
    hours, seconds = divmod(seconds + 9 * 3600, 3600)
    days, hours = divmod(hours, 24)
    clock = f"{hours:02d}:{seconds // 60:02d}:{seconds % 60:02d}"
    return f"2026-08-{days % 28 + 1:02d}-{clock}.{micros // 1000:03d}.{micros % 1000:03d}"


_COLOURS = (b"\x1b[31m", b"\x1b[0m", b"\x1b[1;32m", b"\x1b[m\x1b[K", b"\x1b]0;title\x07", b"\x1b[38;5;208m")


def _coloured(line: bytes, number: int, chance: random.Random) -> bytes:
    """Colours anywhere, but not inside a UTF-8 character or an escape sequence."""
    if b"\x1b" in line:
        return b"\x1b[2m" + line + b"\x1b[0m"
    places = [at for at in range(len(line) + 1) if at == len(line) or line[at] & 0xC0 != 0x80]
    for at in sorted(chance.choices(places, k=chance.randint(1, 4)), reverse=True):
        line = line[:at] + chance.choice(_COLOURS) + line[at:]
    return line


def _grep_coloured(line: bytes, number: int, chance: random.Random) -> bytes:
    """`grep --color=always PROF` puts its colours inside the brackets."""
    return re.sub(rb"PROF|GetTiling", lambda found: b"\x1b[01;31m\x1b[K" + found.group() + b"\x1b[m\x1b[K", line)


def _before(text: str) -> Outer:
    def put(line: bytes, number: int, chance: random.Random) -> bytes:
        return text.format(number=number, second=number % 60).encode() + line

    return put


def _spinner(line: bytes, number: int, chance: random.Random) -> bytes:
    return chance.choice("⠋⠙⠹⠸⠼⠴⠦⠧|/-").encode() + b" " + line


def _holes(line: bytes, number: int, chance: random.Random) -> bytes:
    """What a crash leaves in a file: a hole of NULs before the next line."""
    return b"\0" * chance.choice((0, 0, 1, 40)) + line


OUTER: Mapping[str, Outer] = {
    "grep -n": _before("{number}:"),
    "grep -r": _before("var/log/npu/plog-77.log:"),
    "grep -rn": _before("log/[old] run/plog-77.log:{number}:"),
    "stamp": _before("[2026-07-25 17:55:{second:02d}] "),
    "stamp_iso": _before("[2026-07-25T17:55:{second:02d}.123Z] "),
    "container": _before("svc-1  | "),
    "worker": _before("(Worker_TP1 pid=551) ERROR 10-15 08:09:{second:02d} [worker.py:77] "),
    "rank": _before("[rank8]: "),
    "rank_named": _before("[Rank 3] "),
    "spinner": _spinner,
    "holes": _holes,
    "coloured": _coloured,
    "grep --color": _grep_coloured,
}
"""By name, so that a failing example reads well."""
