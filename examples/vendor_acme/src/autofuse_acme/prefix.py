"""The begin of every line of the ACME tuner: `1767225600.120 p4242.t17 I `."""

from __future__ import annotations

import re
from typing import Optional

from autofuse.scan.lines import Wrapping

_PREFIX = re.compile(rb"(?P<time>\d{1,12}\.\d{3}) p(?P<pid>\d{1,9})\.t(?P<tid>\d{1,9}) (?P<level>[DIWE]) *$")
_LEVELS = {b"D": "DEBUG", b"I": "INFO", b"W": "WARNING", b"E": "ERROR"}


def read_prefix(prefix: bytes) -> Optional[Wrapping]:
    """What the bytes before a message say; None when they are not the tuner's."""
    # The tuner writes at most 40 bytes; what a container or `grep -n` puts before them does not matter.
    found = _PREFIX.search(prefix[-60:])
    if found is None:
        return None
    return Wrapping(
        level=_LEVELS[found["level"]],
        pid=int(found["pid"]),
        tid=int(found["tid"]),
        time=found["time"].decode(),
    )
