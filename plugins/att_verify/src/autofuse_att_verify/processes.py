"""Running the compiler: output kept within limits, and nothing left running however it ends."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterator, List, Mapping, Optional, Sequence, Set, Tuple

from autofuse_att_verify.interrupts import held

__all__ = ["Finished", "kill_strays", "kill_tree", "run_tool"]

_MOST_OUTPUT = 4 << 20
_GRACE_SECONDS = 2.0
_MOST_ROUNDS = 200
_MOST_MEMORY = 8 << 30
_LARGEST_FILE = 2 << 30


@dataclass(frozen=True)
class Finished:
    """How a program ended."""

    code: int
    """Exit code; negative is the signal that ended it."""
    output: str
    """Standard output and error together, the first 4 MiB."""
    seconds: float
    timed_out: bool = False


def run_tool(
    command: Sequence[str], folder: Path, timeout: float, environment: Optional[Mapping[str, str]] = None
) -> Finished:
    """Runs a program in `folder` and waits for it; OSError when it cannot be started.

    Whatever ends the waiting (time-out, Ctrl-C, an error), the program and all its descendants are gone afterwards.
    """
    begin = time.monotonic()
    with contextlib.ExitStack() as stack:
        with held():
            process = subprocess.Popen(
                list(command),
                cwd=folder,
                env=None if environment is None else dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            stack.callback(_end, process)
            _limit(process.pid)
        output = _read_output(process, begin + timeout)
        timed_out = process.poll() is None
        code = -signal.SIGKILL if timed_out else process.wait()
    return Finished(code, output.decode("utf-8", "replace"), time.monotonic() - begin, timed_out)


def kill_tree(process: subprocess.Popen[bytes]) -> None:
    """Ends a process and everything below it: asks first, so that build tools can tidy up, then insists."""
    family = _family(process.pid)
    _signal(family, signal.SIGTERM)
    deadline = time.monotonic() + _GRACE_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    # What was just being started has not been asked; it may start others while it is told to go.
    for _ in range(_MOST_ROUNDS):
        family = (family | _family(process.pid)) & {pid for pid, _, _ in _processes()}
        if not family - {process.pid}:
            break
        _signal(family, signal.SIGKILL)
        time.sleep(0.005)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE_SECONDS)


def kill_strays(folder: Path) -> None:
    """Ends every process that works in `folder` or below it, whoever started it."""
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            with contextlib.suppress(OSError):
                if Path(os.readlink(f"/proc/{entry}/cwd")).is_relative_to(folder):
                    os.kill(int(entry), signal.SIGKILL)


def _limit(pid: int) -> None:
    """`#include "/dev/zero"` and the like end with a message rather than with the memory or the disk."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        resource.prlimit(pid, resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))


def _end(process: subprocess.Popen[bytes]) -> None:
    with held():
        if process.poll() != 0:  # one that failed may have left others at work
            kill_tree(process)
        if process.stdout is not None:
            process.stdout.close()


def _read_output(process: subprocess.Popen[bytes], deadline: float) -> bytes:
    assert process.stdout is not None
    descriptor = process.stdout.fileno()
    chunks: List[bytes] = []
    kept = 0
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return b"".join(chunks)
        if not select.select([descriptor], [], [], min(left, 0.5))[0]:
            if process.poll() is not None:
                return b"".join(chunks)  # a background child still holds the pipe
            continue
        chunk = os.read(descriptor, 65536)
        if not chunk:
            _wait_until(process, deadline)
            return b"".join(chunks)
        chunks.append(chunk[: max(0, _MOST_OUTPUT - kept)])
        kept += len(chunks[-1])


def _wait_until(process: subprocess.Popen[bytes], deadline: float) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(max(0.0, deadline - time.monotonic()))


def _signal(pids: Set[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _family(root: int) -> Set[int]:
    """The process, all below it, and all of its session: a child whose parent has gone is below nobody we know.

    Build tools put their children into groups of their own, so groups do not tell.
    """
    children: Dict[int, List[int]] = {}
    family = {root}
    for pid, parent, session in _processes():
        children.setdefault(parent, []).append(pid)
        if session == root:
            family.add(pid)
    waiting = list(family)
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in family:
                family.add(child)
                waiting.append(child)
    return family


def _processes() -> Iterator[Tuple[int, int, int]]:
    """Every process that is no zombie, its parent and its session."""
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # `pid (any name) state parent group session …`: the name may hold anything, so read from its end.
                text = Path("/proc", entry, "stat").read_bytes().rpartition(b")")[2].split()
                if text[0] != b"Z":
                    yield int(entry), int(text[1]), int(text[3])
