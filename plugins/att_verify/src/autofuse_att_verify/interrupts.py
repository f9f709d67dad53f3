"""Ctrl-C and SIGTERM while processes and temporary folders exist: an exception where both can be removed.

Within `interruptible()` the three signals that end a program raise KeyboardInterrupt, but not inside `held()`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Iterator, Optional

__all__ = ["held", "interruptible", "temporary_folder"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-")


_PATIENCE_SECONDS = 10.0


class _Pending:
    depth = 0
    arrived = False
    raised: Optional[float] = None
    """When the last KeyboardInterrupt was raised here."""


def _handle(number: int, frame: Optional[FrameType]) -> None:
    if _Pending.depth:
        _Pending.arrived = True
    else:
        _raise()


def _raise() -> None:
    # Who is impatient presses twice: the second signal must not interrupt the tidying up that the first one began.
    now = time.monotonic()
    if _Pending.raised is None or now - _Pending.raised > _PATIENCE_SECONDS:
        _Pending.raised = now
        raise KeyboardInterrupt


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Turns the signals into KeyboardInterrupt for the block; elsewhere than in the main thread nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _Pending.raised = None
    before = {number: signal.signal(number, _handle) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Puts the signals off to the end of the block: what is made and what removes it are not torn apart."""
    _Pending.depth += 1
    try:
        yield
    finally:
        _Pending.depth -= 1
        if not _Pending.depth and _Pending.arrived:
            _Pending.arrived = False
            _raise()


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A private folder whose path no build tool trips over; removed at the end, whatever happens."""
    usual = tempfile.gettempdir()
    with contextlib.ExitStack() as stack:
        with held():
            parent = usual if set(usual) <= _SAFE else "/tmp"
            folder = Path(tempfile.mkdtemp(prefix="autofuse-verify-", dir=parent))
            stack.callback(_remove, folder)
        yield folder


def _remove(folder: Path) -> None:
    with held():
        shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():
            for inside, _, _ in os.walk(folder):  # the code may have taken our rights away
                with contextlib.suppress(OSError):
                    os.chmod(inside, 0o700)
            shutil.rmtree(folder, ignore_errors=True)
