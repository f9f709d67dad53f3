"""The line wrappings that logs of CANN come in: plog (and slog), and bare lines with bracket groups.

Each reads the bytes before a message. The parser of the ATT format follows the same rules natively; these are for
everybody else. Where a message begins is left to the parser that found it.
"""

from __future__ import annotations

import re
from typing import Optional

from autofuse.scan.lines import Wrapping

__all__ = ["read_bare", "read_plog"]

_LEVEL = rb"\[(DEBUG|INFO|WARNING|WARN|ERROR|EVENT|TRACE|OPLOG)\]"
# `[LEVEL] MODULE(pid,pname):time [file:line]`, then `[status:…]` groups, the thread and `Func:`; a name may hold `]`.
_PLOG = re.compile(
    _LEVEL + rb"[ \t]*(\w+)\([ \t]*(\d{1,18}),.{0,255}?\)[ \t]*:([^\[]{0,40})\[([^\]]{0,1023})\][ \t]*"
    rb"(?:\[[^\]]{0,254}\][ \t]*)*(\d{1,18})[ \t]+[^:\[ \t]+:[ \t]*(?:ErrorNo: [^)]*\)[ \t]*)?(?:\[(.*)\][ \t]*)?\Z",
    re.ASCII | re.DOTALL,
)
_GROUP = re.compile(rb"\[([^\[]*)\][ \t]*\Z")
_NO_OPERATOR = re.compile(
    rb"(?:DEBUG|INFO|WARNING|WARN|ERROR|EVENT|TRACE|OPLOG|(?:rank|Rank|RANK)[:_]?[ \t]*\d+"
    rb"|.*\.(?i:c|cc|cpp|cxx|h|hh|hpp|inc|py):\d+|(?=.*\d\d[:-]\d\d)[-0-9:.,/TZ+ ]+)\Z",
    re.DOTALL,
)


def read_plog(prefix: bytes) -> Optional[Wrapping]:
    """`[INFO] GE(4242,python3):2026-01-02-03:04:05.006.007 [a.cpp:1]4243 Func:[Op]`; None for anything else."""
    match = _PLOG.search(prefix)
    if match is None:
        return None
    level, module, pid, time, place, tid, operator = match.groups()
    return Wrapping(
        level=level.decode(),
        module=module.decode(),
        pid=int(pid),
        tid=int(tid),
        time=_text(time) or None,
        location=_text(place),
        operator=None if operator is None else _text(operator),
    )


def read_bare(prefix: bytes) -> Optional[Wrapping]:
    """`[INFO] [Op] `: the last bracket group that is no severity, file, rank or time; None where there is none."""
    level = None
    rest = prefix
    while True:
        match = _GROUP.search(rest)
        if match is None:
            return None
        name = match.group(1)
        if name and not _NO_OPERATOR.match(name):
            before = re.search(_LEVEL + rb"[ \t]*\Z", rest[: match.start()])
            level = before.group(1).decode() if before else level
            return Wrapping(level=level, operator=_text(name))
        rest = rest[: match.start()]


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").strip()
