"""Calling the compiled library in a process of its own; `autofuse_native_runners` offers two of these.

The protocol is the same for both: options on the command line, points in a file, one JSON object a line on a pipe. What
the answers mean is left to `checks` and `sweep`.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from array import array
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Protocol, Tuple

from autofuse.errors import AutofuseError

from autofuse_att_verify.interrupts import held
from autofuse_att_verify.processes import kill_strays, kill_tree

__all__ = ["Answer", "Job", "Runner", "native_program", "native_runner", "python_runner"]

Answer = Dict[str, Any]
"""One line of the runner. Keys: `i` point; `ret`, `workspace`, `block_dim`, `zero`, `ns` of a call that came back;
`templates` (template, objective, pipes) and `results` as its messages told them; `error` and `phase` of one that did
not; `fatal` and `phase` when no point can be called; `left` processes left behind. A single call adds `size`,
`exports`, `key`, `key_count`, `same`, and of the second call `repeat_ret`, `repeat_workspace`, `repeat_block_dim`,
`repeat_error`."""

_DISTRIBUTION = "autofuse-att-verify"
_PROGRAM = "bin/autofuse-tiling-runner"
_TYPES = {
    **dict.fromkeys(("i", "ret", "workspace", "block_dim", "ns", "left", "size", "key", "key_count"), int),
    **dict.fromkeys(("repeat_ret", "repeat_workspace", "repeat_block_dim"), int),
    **dict.fromkeys(("zero", "same"), bool),
    **dict.fromkeys(("error", "fatal", "phase", "repeat_error", "save_error"), str),
}
_ADDRESS_SPACE = 4 << 30
_OUTPUT = 64 << 20
_STOP_SECONDS = 2.0


@dataclass(frozen=True)
class Job:
    """One library and the points to call it with."""

    library: Path
    kind: str
    """`tf` or `inductor`."""
    dims: int
    """Number of shape symbols, at most 32."""
    points: array[int]
    """Rows of `dims` values, aiv_num, ub_size, and 1 where a ResLimit is passed (inductor)."""
    folder: Path
    """Private folder: working directory of the calls and home of the files below."""
    single: bool
    """True for one call with everything about it, False for a sweep."""
    timeout: float = 60.0
    """Seconds for each point."""
    jobs: int = 1
    find_key: bool = False
    library_folders: Tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def data_path(self) -> Path:
        """Where a single call leaves the bytes of its tiling data."""
        return self.folder / "tiling_data.bin"

    @property
    def log_path(self) -> Path:
        """Lines of the log calls of a single call."""
        return self.folder / "calls.log"

    @property
    def output_path(self) -> Path:
        """What the code wrote to standard output and error."""
        return self.folder / "output.txt"

    @property
    def count(self) -> int:
        """Number of points."""
        return len(self.points) // (self.dims + 3)


class Runner(Protocol):
    """What the factory of a `RunnerSpec` gives when it is called without arguments."""

    name: str

    def problem(self) -> Optional[str]:
        """Why it cannot work on this machine; None when it can."""

    def run(self, job: Job) -> Iterator[Answer]:
        """The answers, in the order they come. Closing the iterator ends every process that it started."""


def native_program() -> Optional[Path]:
    """The runner program that was built with this plugin; None when the plugin was installed without a compiler."""
    inside = Path(__file__).parent / _PROGRAM
    if inside.is_file():
        return inside
    # An editable install keeps what was built in site-packages, away from the sources.
    try:
        installed = Path(str(distribution(_DISTRIBUTION).locate_file(f"autofuse_att_verify/{_PROGRAM}")))
    except PackageNotFoundError:
        return None
    return installed if installed.is_file() else None


def native_runner() -> Runner:
    """The C++ program."""
    return _Process("native", _native_command)


def python_runner() -> Runner:
    """A Python process with ctypes: slower to start, for machines without a compiler at install time."""
    return _Process("python", _python_command)


def _native_command() -> List[str]:
    program = native_program()
    if program is None:
        raise AutofuseError("the native runner was not built", hint="install a C++ compiler and reinstall the plugin")
    return [str(program)]


def _python_command() -> List[str]:
    # Nothing but the standard library is on the path of this process.
    return [sys.executable, "-I", "-S", str(Path(__file__).with_name("child.py"))]


class _Process:
    """A runner that is a program."""

    def __init__(self, name: str, command: Any) -> None:
        self.name = name
        self._command = command

    def problem(self) -> Optional[str]:
        try:
            self._command()
        except AutofuseError as error:
            return str(error)
        return None

    def run(self, job: Job) -> Iterator[Answer]:
        with contextlib.ExitStack() as stack:
            with held():
                results, writer = os.pipe()
                stack.callback(os.close, results)
                try:
                    process = self._start(job, writer, stack)
                finally:
                    os.close(writer)
                stack.callback(_stop, process)
            yield from _answers(results, process, job)

    def _start(self, job: Job, writer: int, stack: contextlib.ExitStack) -> subprocess.Popen[bytes]:
        points = job.folder / "points.bin"
        with open(points, "wb") as file:
            job.points.tofile(file)
        options: Dict[str, object] = {
            "--library": job.library,
            "--kind": job.kind,
            "--dims": job.dims,
            "--points": points,
            "--work-dir": _made(job.folder / "work"),
            "--result-fd": writer,
            "--timeout-ms": max(1, round(job.timeout * 1000)),
            "--memory-bytes": _ADDRESS_SPACE,
            "--output-bytes": _OUTPUT,
            "--jobs": job.jobs,
            "--find-key": int(job.find_key),
        }
        descriptors = [writer]
        if job.single:
            log = stack.enter_context(job.log_path.open("w+b"))
            output = stack.enter_context(job.output_path.open("w+b"))
            options |= {"--data": job.data_path, "--log-fd": log.fileno(), "--capture-fd": output.fileno()}
            descriptors += [log.fileno(), output.fileno()]
        words = [str(word) for pair in options.items() for word in pair]
        return subprocess.Popen(
            [*self._command(), *words],
            stdin=subprocess.PIPE,  # stays open: its end tells the runner that we have gone
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=_environment(job),
            cwd=job.folder,
            pass_fds=descriptors,
            start_new_session=True,
        )


def _made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder


def _environment(job: Job) -> Dict[str, str]:
    """The reduced environment of the calls; log calls of level INFO and above are wanted."""
    work = str(job.folder / "work")
    environment = {
        "ASCEND_GLOBAL_LOG_LEVEL": "1",
        "ASCEND_GLOBAL_EVENT_ENABLE": "0",
        "ASCEND_SLOG_PRINT_TO_STDOUT": "1",
        "ASCEND_PROCESS_LOG_PATH": work,
        "HOME": work,
        "TMPDIR": work,
        "PATH": "/usr/bin:/bin",
        "LC_ALL": "C",
        **job.environment,
    }
    if "TZ" in os.environ:
        environment["TZ"] = os.environ["TZ"]
    folders = [*job.library_folders, os.environ.get("LD_LIBRARY_PATH", "") if job.library_folders else ""]
    if any(folders):
        environment["LD_LIBRARY_PATH"] = ":".join(folder for folder in folders if folder)
    return environment


def _answers(results: int, process: subprocess.Popen[bytes], job: Job) -> Iterator[Answer]:
    """Lines as they come. The runner keeps the time-outs; should it hang itself, this gives up some time later."""
    patience = job.timeout * 3 + 30
    deadline = time.monotonic() + patience
    rest = b""
    while True:
        ended = process.poll() is not None
        if not select.select([results], [], [], 0.0 if ended else 0.5)[0]:
            if ended:
                break  # what the code started still holds the pipe
            if time.monotonic() > deadline:
                yield {"fatal": "the runner does not answer", "phase": "runner"}
                return
            continue
        chunk = os.read(results, 1 << 16)
        if not chunk:
            break
        deadline = time.monotonic() + patience
        *lines, rest = (rest + chunk).split(b"\n")
        yield from filter(None, map(_answer, lines))
    code = process.wait()
    if code:
        kill_strays(job.folder)
        yield {"fatal": f"the runner ended with code {code}", "phase": "runner"}


def _answer(line: bytes) -> Optional[Answer]:
    # Code that runs wild may write to any descriptor: a line that is no answer is none.
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and all(map(_is_known, value.items())) else None


def _is_known(item: Tuple[str, Any]) -> bool:
    key, value = item
    if key in ("exports", "reports"):
        return isinstance(value, list) and all(isinstance(text, str) for text in value)
    if key == "results":
        return _is_texts(value)
    if key == "templates":
        return isinstance(value, list) and all(map(_is_template, value))
    return type(value) is _TYPES.get(key)


def _is_template(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("template"), str):
        return False
    return _is_texts(value.get("pipes", {})) and isinstance(value.get("objective", ""), str)


def _is_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Asks the runner to end what it started; insists when it does not."""
    assert process.stdin is not None
    with held():
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            kill_tree(process)
