"""What a file name tells: which process wrote the file, and the file's place among those of the process.

CANN names its own files after process and time; other files are rotated by number or date. Nothing is opened here.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Callable, Optional, Tuple

__all__ = ["COMPRESSED_SUFFIXES", "Place", "place_of"]

COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz", ".lzma")

# plog-<pid>_<17 digits>.log, device-<pid>_<17 digits>.log; the digits are year to millisecond.
_CANN = re.compile(r"(plog|device)-(\d{1,10})_(\d{8,20})\.log")
# x.log.3, as logrotate, log4j and Python's RotatingFileHandler name it: the higher the number, the older.
_NUMBERED = re.compile(r"(.+)\.(\d{1,3})")
# x.log-20260131, x.log.2026-01-31, x.log.2026-01-31_07-00, x.log-20260131-1769817600
_DATED = re.compile(r"(.+)[.-]((?:19|20)\d\d-?[01]\d-?[0-3]\d(?:[T_.-]?\d\d[-:]?\d\d(?:[-:]?\d\d)?|-\d{9,10})?)")
_EXTENSION = re.compile(r".+\.[A-Za-z]\w*")


@dataclass(frozen=True)
class Place:
    """`process` and `order` as in `autofuse.scan.source.ByteStream`."""

    process: Tuple[str, ...]
    order: Tuple[int, str, int]
    pid: Optional[int] = None


def place_of(path: str, exists: Callable[[str], bool] = os.path.exists) -> Place:
    """The place of the file; `exists` says whether a path that may be the newest file of the set is there."""
    folder, name = os.path.split(path)
    for suffix in COMPRESSED_SUFFIXES:
        if name.lower().endswith(suffix):
            name = name[: -len(suffix)]
            break
    found = _CANN.fullmatch(name)
    if found:
        return _cann_place(folder, *found.groups())
    return _rotated_place(folder, name, exists)


def _cann_place(folder: str, kind: str, pid: str, time: str) -> Place:
    """A process is one pid in one tree: its debug, run and security folders are merged by time."""
    tree, writer = folder, kind
    if kind == "device":
        # The host's pid stands in the name, but the lines are those of processes on the device of the folder.
        writer = os.path.basename(folder) or kind
        tree = os.path.dirname(folder)
    elif os.path.basename(tree) == "plog":
        tree = os.path.dirname(tree)
    phase = os.path.basename(tree)
    if phase in ("debug", "run", "security"):
        tree = os.path.dirname(tree)
    return Place((tree, writer, pid), (int(time.ljust(20, "0")), phase, 0), int(pid))


def _rotated_place(folder: str, name: str, exists: Callable[[str], bool]) -> Place:
    dated = _DATED.fullmatch(name)
    if dated and _is_base(folder, dated[1], exists):
        return Place((os.path.join(folder, dated[1]),), (0, re.sub(r"\D", "", dated[2]), 0))
    numbered = _NUMBERED.fullmatch(name)
    if numbered and _is_base(folder, numbered[1], exists):
        return Place((os.path.join(folder, numbered[1]),), (1, "", -int(numbered[2])))
    return Place((os.path.join(folder, name),), (2, "", 0))


def _is_base(folder: str, name: str, exists: Callable[[str], bool]) -> bool:
    """Tells `train.log.2` and `messages.1` beside `messages` from `Add.1`, a name that ends in a number."""
    return _EXTENSION.fullmatch(name) is not None or exists(os.path.join(folder, name))
