"""Reading what the calls left behind: whoever ran there may have put a pipe or a link in the place of a file."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO, Optional

__all__ = ["open_plain"]


def open_plain(path: Path) -> Optional[BinaryIO]:
    """Opens a regular file for reading, without waiting or following a link; None when it is something else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    return os.fdopen(descriptor, "rb")
