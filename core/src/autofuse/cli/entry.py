"""Where the command `autofuse` begins: signals mean a tidy end from the first moment on, while modules are still read.

What the command line does is in `autofuse.cli.main`; this module imports nothing that takes time.
"""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import Optional

__all__ = ["run"]

_INTERRUPTED = 130
_TERMINATED = 143


def run() -> int:
    """Runs the command line of this process and returns its exit code."""
    try:
        # As an exception SIGTERM passes through every `finally`: temporary files and child processes go with it.
        signal.signal(signal.SIGTERM, _terminate)
        from autofuse.cli.main import main

        return main()
    except KeyboardInterrupt:
        sys.stderr.write("autofuse: interrupted\n")
        return _INTERRUPTED


def _terminate(number: int, frame: Optional[FrameType]) -> None:
    raise SystemExit(_TERMINATED)
