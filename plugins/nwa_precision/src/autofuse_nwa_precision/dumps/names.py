"""What the name of a dump file and the folders above it say; nothing here touches the file system.

A name is `<OpType>.<op_name>.<task>.<stream>.<timestamp>`, with `.4.<ctx>.<thread>.<dev>` behind it for FFTS+, and
for a file of one tensor `.<input|output>.<index>[.<dims or layout>…].npy`. It is read from the right, because type and
name may hold dots in capture mode; an old form has no stream.
"""

from __future__ import annotations

import re
from typing import List, NamedTuple, Optional, Sequence, Tuple

__all__ = ["DumpName", "Place", "mapped", "parse_name", "place_of"]

_FFTS_CONTEXT = "4"
"""The field that introduces context, thread and device in names of FFTS+ tasks."""
_WRITTEN_AS_UNDERSCORE = str.maketrans({" ": "_", ".": "_", "/": "_", "\\": "_"})
_IGNORED = ("Opdebug.", "exception_info.")
_TIME_FOLDER = re.compile(r"\d{14}")


class DumpName(NamedTuple):
    """The fields of one dump file's name."""

    words: Tuple[str, ...]
    """Type and operator name; more than two when one of them holds dots."""
    side: str
    """`input`, `output`, or "" for a raw dump file, which holds all tensors of its operator."""
    index: int  # type: ignore[assignment]  # the field's own name; nothing here searches the tuple
    timestamp: int
    task: int
    thread: int
    """FFTS+ slice of the operator; 0 elsewhere."""
    layout: str
    """The words after the index, such as `NC1HWC0` or `1x2x3`; "" when there are none."""


class Place(NamedTuple):
    """Where in the dump tree a file lies; "" where the folders do not say."""

    device: str
    model: str
    model_id: str
    data_index: str
    time: str


def mapped(name: str) -> str:
    """A name as file names spell it: space, `.`, `/` and `\\` became `_`."""
    return name.translate(_WRITTEN_AS_UNDERSCORE)


def parse_name(name: str) -> Optional[DumpName]:
    """The fields of a dump file's name; None when it is none, or one of those that hold no operator's data."""
    if name.startswith(_IGNORED):
        return None
    fields = (name[:-4] if name.endswith(".npy") else name).split(".")
    # The rightmost input/output that follows a timestamp: an operator may be called `output` itself.
    for at in range(len(fields) - 2, 3, -1):
        if fields[at] in ("output", "input") and _is_number(fields[at + 1]):
            parsed = _base(fields[:at], fields[at], int(fields[at + 1]), ".".join(fields[at + 2 :]))
            if parsed:
                return parsed
    return None if name.endswith(".npy") else _base(fields, "", 0, "")


def place_of(folders: Sequence[str]) -> Place:
    """Reads `…/time/device/model_name/model_id/data_index` from the right; `folders` are those below the dump root."""
    rest: List[str] = list(folders)
    time = next((folder for folder in rest if _TIME_FOLDER.fullmatch(folder)), "")
    if len(rest) >= 2 and rest[-2] == time != "" and _is_number(rest[-1]):
        return Place(rest[-1], "", "", "", time)
    data_index = rest.pop() if rest and _is_number(rest[-1]) else ""
    model_id = rest.pop() if rest and _is_number(rest[-1]) and rest[-1] != time else ""
    model = rest.pop() if rest and rest[-1] != time else ""
    device = rest.pop() if rest and _is_number(rest[-1]) and rest[-1] != time else ""
    return Place(device, model, model_id, data_index, time)


def _base(fields: Sequence[str], side: str, index: int, layout: str) -> Optional[DumpName]:
    numbers = 0
    while numbers < len(fields) and _is_number(fields[-1 - numbers]):
        numbers += 1
    thread = 0
    if _has_context(fields, numbers):
        thread = int(fields[-2])
        fields, numbers = fields[:-4], numbers - 4
    if numbers >= 3 and len(fields) >= 5:
        return DumpName(tuple(fields[:-3]), side, index, int(fields[-1]), int(fields[-3]), thread, layout)
    if numbers >= 2 and len(fields) >= 4:
        return DumpName(tuple(fields[:-2]), side, index, int(fields[-1]), int(fields[-2]), thread, layout)
    return None


def _has_context(fields: Sequence[str], numbers: int) -> bool:
    """True for `….task[.stream].timestamp.4.ctx.thread.dev`: the timestamp is longer than the device behind it."""
    return numbers >= 6 and len(fields) >= 8 and fields[-4] == _FFTS_CONTEXT and len(fields[-5]) > len(fields[-1])


def _is_number(field: str) -> bool:
    # More digits than a 64-bit number has: no field of a dump name.
    return field.isdigit() and field.isascii() and len(field) <= 20
