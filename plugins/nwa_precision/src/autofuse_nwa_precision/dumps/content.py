"""The bytes of a dump file: read whole when small, memory-mapped when large, never from a pipe or a device."""

from __future__ import annotations

import mmap
import os
import stat
from typing import Union

from autofuse_nwa_precision.statuses import FILE_NOT_FOUND, NPY_LOAD_ERROR, RowError

__all__ = ["Content", "content"]

Content = Union[bytes, mmap.mmap]

_WHOLE = 1 << 18
"""Up to this many bytes one read is cheaper than a mapping."""


def content(path: str) -> Content:
    """The file's bytes; RowError when it cannot be read."""
    try:
        # Without O_NONBLOCK, opening a pipe would wait for a writer.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise RowError(FILE_NOT_FOUND, f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        raise RowError(NPY_LOAD_ERROR, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    try:
        return _read(handle)
    except OSError as error:
        raise RowError(NPY_LOAD_ERROR, f"cannot be read: {error.strerror}") from None
    finally:
        os.close(handle)


def _read(handle: int) -> Content:
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        raise RowError(NPY_LOAD_ERROR, "is no regular file")
    if status.st_size > _WHOLE:
        return mmap.mmap(handle, 0, access=mmap.ACCESS_READ)
    parts = []
    while True:
        part = os.read(handle, _WHOLE + 1)
        parts.append(part)
        if len(part) == 0 or sum(map(len, parts)) >= status.st_size:
            return b"".join(parts)
