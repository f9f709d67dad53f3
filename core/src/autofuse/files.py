"""Writing output files so that a failed or interrupted run leaves the old file as it was."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import BinaryIO, Iterator, Union

from autofuse.errors import AutofuseError

__all__ = ["atomic_open", "make_folder"]


def make_folder(path: Union[str, Path]) -> Path:
    """Creates the folder `path` and its parents; AutofuseError when it is a file or cannot be made."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise AutofuseError("is a file, not a folder", str(folder), "name a folder with -o") from None
    except OSError as error:
        raise AutofuseError(f"cannot create the folder: {error.strerror}", str(folder)) from error
    return folder


@contextlib.contextmanager
def atomic_open(path: Union[str, Path]) -> Iterator[BinaryIO]:
    """Opens a temporary file beside `path` for writing bytes and renames it to `path` when the block ends well.

    A link is followed, so that what it points to is replaced; a device or pipe (`/dev/stdout`, a FIFO) is written
    directly.
    """
    if _is_device(Path(path)):
        with _device(Path(path)) as out:
            yield out
        return
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise AutofuseError("is a folder, not a file", str(target), "name a file with -o")
    make_folder(target.parent)
    mode = _mode_of(target)
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".tmp", dir=target.parent)
    except OSError as error:
        raise AutofuseError(f"cannot write: {error.strerror}", str(target)) from error
    try:
        with os.fdopen(handle, "wb") as out:
            yield out
            out.flush()
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except OSError as error:
        if error.filename not in (None, temporary):
            raise  # of something that the block reads
        raise AutofuseError(f"cannot write: {error.strerror or error}", str(target)) from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def _mode_of(target: Path) -> int:
    """Permissions of the new file: those of the one it replaces, which must be writable as if it were opened."""
    if not target.exists():
        return 0o666 & ~_umask()
    if not os.access(target, os.W_OK):
        raise AutofuseError("cannot write: the file is read-only", str(target), "name another file with -o")
    return target.stat().st_mode & 0o777


def _is_device(path: Path) -> bool:
    # /dev/stdout may lead to a regular file: renaming would replace the link in /dev itself.
    named = os.path.abspath(path).startswith(("/dev/", "/proc/")) and not str(path).startswith("/dev/shm/")
    return path.exists() and not path.is_dir() and (named or not path.is_file())


@contextlib.contextmanager
def _device(path: Path) -> Iterator[BinaryIO]:
    try:
        with open(path, "wb") as out:
            yield out
    except OSError as error:
        raise AutofuseError(f"cannot write: {error.strerror or error}", str(path)) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
