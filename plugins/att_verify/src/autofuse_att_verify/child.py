"""The Python runner: what the native runner program does, with ctypes, where no compiler was there at install time.

Started by `runner` as a process of its own; imports nothing but the standard library and `choices`. A supervisor forks
one worker at a time, which loads the library and answers for its points; the supervisor keeps the time-outs.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import json
import mmap
import os
import platform
import resource
import select
import signal
import struct
import sys
import time
from array import array
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

_LARGEST = 1 << 30
_GUARD = 1 << 16
_WIDE_GUARD = 2 << 20
_PATTERN = 0xA5
_OPTIONAL = (
    "AutofuseIsStaticShape",
    "FindBestTilingKey",
    "GetTilingKeyCount",
    "GetModeledPerfForTesting",
    "AutofuseTilingWithConfig",
)
_PHASES = ("load", "GetTilingDataSize", "AutofuseTiling", "repeat of AutofuseTiling", "FindBestTilingKey", "idle")
_LOAD, _SIZE, _CALL, _REPEAT, _KEY, _IDLE = range(6)
_NONE, _FORK, _OUTPUT = range(3)
_MACHINES = {62: "x86-64", 183: "aarch64", 3: "x86 (32 bit)", 40: "arm (32 bit)"}
_HERE = {"x86_64": 62, "AMD64": 62, "aarch64": 183, "arm64": 183}


def _read_choice() -> Any:
    """`choices.read_choice`; this process has no package to import it from."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "choices.py")
    spec = importlib.util.spec_from_file_location("choices", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.read_choice


def main(words: Sequence[str]) -> int:
    """Runs every point of the job described by the options; gives the exit code."""
    options = dict(zip(words[::2], words[1::2]))
    return _Supervisor(options).run()


def _shared(index: int) -> Any:
    """A 64-bit number in the shared page, as a property."""

    def read(state: _State) -> int:
        return int(struct.unpack_from("<q", state.memory, 8 * index)[0])

    def write(state: _State, value: int) -> None:
        struct.pack_into("<q", state.memory, 8 * index, value)

    return property(read, write)


class _State:
    """One page of memory that supervisor and worker share."""

    current = _shared(0)
    """The point being called, or -1."""
    next = _shared(1)
    started = _shared(2)
    phase = _shared(3)
    verdict = _shared(4)
    done = _shared(5)

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, 4096)
        self.current, self.next, self.started, self.phase, self.verdict, self.done = -1, 0, 0, _LOAD, _NONE, 0


class _Supervisor:
    def __init__(self, options: Dict[str, str]) -> None:
        self.options = options
        self.result_fd = int(options["--result-fd"])
        self.capture_fd = int(options.get("--capture-fd", -1))
        self.timeout = int(options["--timeout-ms"]) / 1000
        self.most_output = int(options["--output-bytes"])
        self.points = array("I")
        with open(options["--points"], "rb") as file:
            self.points.frombytes(file.read())
        self.state = _State()
        self.log_fd = self._open_log()
        self.left = 0
        self.stopped = False

    def run(self) -> int:
        libc = ctypes.CDLL(None)
        libc.prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._stop)
        count = len(self.points) // (int(self.options["--dims"]) + 3)
        while not self.stopped and self.state.next < count and self._one_worker(libc):
            pass
        self._end_orphans()
        if self.left and not self.stopped:
            self._answer({"left": self.left})
        return 3 if self.stopped else 0

    def _open_log(self) -> int:
        """Where log lines go: the file of a single call, or one that is read and emptied after each point."""
        if "--log-fd" in self.options:
            return int(self.options["--log-fd"])
        path = os.path.join(self.options["--work-dir"], "calls.log")
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)

    def _stop(self, *_: object) -> None:
        self.stopped = True

    def _one_worker(self, libc: Any) -> bool:
        """Starts a worker and waits for its end; False when no other one would do better."""
        state = self.state
        state.current, state.phase, state.verdict, state.done, state.started = -1, _LOAD, _NONE, 0, time.monotonic_ns()
        output, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                _Worker(self.options, self.points, state, libc, self.log_fd).run(writer)
            finally:
                os._exit(124)
        os.close(writer)
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        reason, status = self._wait(pid, output)
        os.close(output)
        return self._judge(reason, status)

    def _wait(self, pid: int, output: int) -> Tuple[Optional[str], int]:
        reason: Optional[str] = None
        written = 0
        watched = [0, output]
        while True:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended or self.stopped:
                self._kill(pid)
                return reason, status if ended else os.waitpid(pid, 0)[1]
            ready = select.select(watched, [], [], 0.005)[0]
            if 0 in ready and not os.read(0, 1):
                self.stopped = True  # whoever started us has gone
            if output in ready:
                chunk = os.read(output, 1 << 16)
                watched = watched if chunk else [0]
                written += len(chunk)
                if self.capture_fd >= 0 and written <= self.most_output:
                    os.write(self.capture_fd, chunk)
            if reason is None and max(written, os.fstat(self.log_fd).st_size) > self.most_output:
                reason = f"endless output (more than {self.most_output >> 20} MiB)"
                self._kill(pid)
            if reason is None and time.monotonic_ns() - self.state.started > self.timeout * 1e9:
                reason = f"timeout {self.timeout:g} s"
                self._kill(pid)

    @staticmethod
    def _kill(pid: int) -> None:
        for kill, target in ((os.killpg, pid), (os.kill, pid)):
            with contextlib.suppress(OSError):
                kill(target, signal.SIGKILL)

    def _judge(self, reason: Optional[str], status: int) -> bool:
        state = self.state
        if state.done or self.stopped:
            return False
        reason = reason or self._reason(status)
        phase = _PHASES[state.phase] if 0 <= state.phase < len(_PHASES) else "?"
        if state.current < 0 and state.phase != _IDLE:
            self._answer({"fatal": reason, "phase": phase})
            return False
        if state.current >= 0:
            self._answer({"i": state.current, "error": reason, "phase": phase})
            state.next = state.current + 1
        return True

    def _reason(self, status: int) -> str:
        if self.state.verdict == _FORK:
            return "fork in tiling code"
        if self.state.verdict == _OUTPUT:
            return f"endless output (more than {self.most_output >> 20} MiB)"
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            known = {item.value: item.name for item in signal.Signals}
            return f"signal {known.get(number, number)}"
        return f"exited with code {os.WEXITSTATUS(status)}"

    def _answer(self, value: Dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            os.write(self.result_fd, _line(value))

    def _end_orphans(self) -> None:
        """Processes that left their group came to us when their parent ended; they go as well."""
        for _ in range(200):
            with (
                contextlib.suppress(OSError),
                open(f"/proc/self/task/{os.getpid()}/children") as file,
            ):
                for child in file.read().split():
                    with contextlib.suppress(OSError):
                        os.kill(int(child), signal.SIGKILL)
            try:
                pid, _status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            self.left += pid > 0
            if pid == 0:
                time.sleep(0.001)


class _Worker:
    def __init__(self, options: Dict[str, str], points: array[int], state: _State, libc: Any, log_fd: int) -> None:
        self.options = options
        self.points = points
        self.state = state
        self.libc = libc
        self.dims = int(options["--dims"])
        self.single = "--data" in options
        self.result_fd = int(options["--result-fd"])
        self.log_fd = log_fd
        self.read_choice = _read_choice()
        self.on_fork: Optional[Callable[[], None]] = None

    def run(self, output: int) -> None:
        self._prepare(output)
        library = self._load()
        self._measure(library)
        count = len(self.points) // (self.dims + 3)
        while self.state.next < count:
            index = self.state.next
            self.state.started = time.monotonic_ns()
            self.state.current = index
            usable = self._point(index)
            self.state.current = -1
            self.state.next = index + 1
            if not usable:
                os._exit(0)
        self.state.done = 1
        os._exit(0)

    def _prepare(self, output: int) -> None:
        os.setpgid(0, 0)
        self.libc.prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDWR)
        for target, source in ((0, null), (1, output), (2, output)):
            os.dup2(source, target)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 * _LARGEST, 2 * _LARGEST))
        memory = int(self.options["--memory-bytes"])
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        os.chdir(self.options["--work-dir"])
        self._watch_forks()

    def _watch_forks(self) -> None:
        def forked() -> None:
            self.state.verdict = _FORK
            os.kill(os.getpid(), signal.SIGKILL)

        register = getattr(self.libc, "__register_atfork", None)
        if register is not None:
            self.on_fork = ctypes.CFUNCTYPE(None)(forked)
            register(self.on_fork, None, None, None)

    def _load(self) -> Any:
        path = self.options["--library"]
        with open(path, "rb") as file:
            head = file.read(20)
        here = _HERE.get(platform.machine())
        machine = int.from_bytes(head[18:20], "little")
        if head[:4] == b"\x7fELF" and here and machine != here:
            other = _MACHINES.get(machine, "another machine")
            self._fatal(f"wrong architecture: the library is for {other}, this machine is {_MACHINES[here]}")
        try:
            library = ctypes.CDLL(path, mode=os.RTLD_NOW)
        except OSError as error:
            name = str(error).partition("undefined symbol: ")[2]
            self._fatal(f"missing symbol {name}" if name else f"cannot load the library: {error}")
        for required in ("AutofuseTiling", "GetTilingDataSize"):
            if not hasattr(library, required):
                self._fatal(f"missing symbol {required}")
        return library

    def _measure(self, library: Any) -> None:
        self.state.phase = _SIZE
        library.GetTilingDataSize.restype = ctypes.c_size_t
        size = library.GetTilingDataSize()
        if not 0 < size <= _LARGEST:
            self._fatal(f"GetTilingDataSize gives {size}, not 1 to {_LARGEST} bytes")
        self.library = library
        # Renewing the wide one takes too long for every point of a sweep.
        self.data = _Guarded(size, _WIDE_GUARD if self.single else _GUARD)
        self.slots = _Guarded(72, _GUARD)
        word = ctypes.POINTER(ctypes.c_uint32)
        tail = [ctypes.c_void_p, word, word]
        inductor = self.options["--kind"] == "inductor"
        tail += [ctypes.c_void_p] if inductor else [ctypes.c_uint32, ctypes.c_uint32]
        library.AutofuseTiling.restype = ctypes.c_int64
        library.AutofuseTiling.argtypes = [ctypes.c_uint32] * self.dims + tail
        self.inductor = inductor

    def _call(self, index: int) -> Tuple[Optional[str], int]:
        width = self.dims + 3
        point = self.points[index * width : (index + 1) * width]
        self.data.reset()
        self.slots.reset()
        ctypes.memset(self.slots.address + 8, _PATTERN, 56)
        aiv_num, ub_size, pass_limit = point[self.dims :]
        limit = (ctypes.c_uint32 * 14)(1, aiv_num, 0, ub_size)
        word = ctypes.POINTER(ctypes.c_uint32)
        outputs = [self.data.address, *(ctypes.cast(self.slots.address + at, word) for at in (0, 64))]
        last = [ctypes.addressof(limit) if pass_limit else None] if self.inductor else [aiv_num, ub_size]
        me = os.getpid()
        returned = self.library.AutofuseTiling(*point[: self.dims], *outputs, *last)
        if os.getpid() != me:
            os._exit(0)  # a copy that the code made of us
        between = ctypes.string_at(self.slots.address + 8, 56)
        if not (self.data.intact() and self.slots.intact() and between == bytes([_PATTERN]) * 56):
            return "buffer overrun", returned
        return ("left processes running" if _has_children() else None), returned

    def _point(self, index: int) -> bool:
        answer: Dict[str, Any] = {"i": index}
        os.environ["AUTOFUSE_VERIFY_LOG_FD"] = str(self.log_fd)
        begin = time.monotonic_ns()
        self.state.phase = _CALL
        problem, returned = self._call(index)
        answer["ns"] = time.monotonic_ns() - begin
        del os.environ["AUTOFUSE_VERIFY_LOG_FD"]
        if problem:
            answer |= {"error": problem, "phase": _PHASES[_CALL]}
        else:
            workspace, block_dim = self._outputs()
            zero = self.data.is_zero()
            answer |= {"ret": returned, "workspace": workspace, "block_dim": block_dim, "zero": zero}
            self._describe(index, answer, returned)
        self.state.phase = _IDLE
        os.write(self.result_fd, _line(answer))
        return problem is None

    def _outputs(self) -> Tuple[int, int]:
        """Workspace size and block dim, 64 bits each."""
        slots = ctypes.string_at(self.slots.address, 72)
        return int.from_bytes(slots[:8], "little"), int.from_bytes(slots[64:], "little")

    def _describe(self, index: int, answer: Dict[str, Any], returned: int) -> None:
        os.lseek(self.log_fd, 0, os.SEEK_SET)
        with open(os.dup(self.log_fd), encoding="utf-8", errors="replace") as log:
            templates, results = self.read_choice(log)
        if templates:
            answer |= {"templates": templates, "results": results}
        if self.single:
            self._describe_single(index, answer, returned)
        else:
            os.ftruncate(self.log_fd, 0)

    def _describe_single(self, index: int, answer: Dict[str, Any], returned: int) -> None:
        first = self.data.content()
        answer["size"] = len(first)
        found: List[str] = [name for name in _OPTIONAL if hasattr(self.library, name)]
        answer["exports"] = ["AutofuseTiling", "GetTilingDataSize", *found]
        with open(self.options["--data"], "wb") as file:
            file.write(first)
        if returned != 0:
            return
        self.state.phase = _KEY
        if "GetTilingKeyCount" in found:
            self.library.GetTilingKeyCount.restype = ctypes.c_uint32
            answer["key_count"] = self.library.GetTilingKeyCount()
        if self.options["--find-key"] == "1" and "FindBestTilingKey" in found:
            self.library.FindBestTilingKey.restype = ctypes.c_int64
            self.library.FindBestTilingKey.argtypes = [ctypes.c_void_p]
            answer["key"] = self.library.FindBestTilingKey(self.data.address)
        self.state.started = time.monotonic_ns()
        self.state.phase = _REPEAT
        problem, answer["repeat_ret"] = self._call(index)
        answer["repeat_workspace"], answer["repeat_block_dim"] = self._outputs()
        if problem:
            answer["repeat_error"] = problem
        answer["same"] = problem is None and self.data.content() == first

    def _fatal(self, error: str) -> None:
        answer = {"fatal": error[:900], "phase": _PHASES[self.state.phase]}
        os.write(self.result_fd, _line(answer))
        self.state.done = 1
        os._exit(0)


def _line(answer: Dict[str, Any]) -> bytes:
    # Begins a line of its own, whatever the code itself wrote to this descriptor.
    return b"\n" + json.dumps(answer).encode() + b"\n"


class _Guarded:
    """Memory with known bytes on both sides; a fault beyond them is a crash."""

    def __init__(self, size: int, guard: int) -> None:
        self.size = size
        self.memory = mmap.mmap(-1, size + 2 * guard)
        self.start = guard
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory)) + guard
        self.guard = bytes([_PATTERN]) * guard

    def reset(self) -> None:
        self.memory[: self.start] = self.guard
        ctypes.memset(self.address, 0, self.size)
        self.memory[self.start + self.size :] = self.guard

    def intact(self) -> bool:
        return self.memory[: self.start] == self.guard and self.memory[self.start + self.size :] == self.guard

    def content(self) -> bytes:
        return self.memory[self.start : self.start + self.size]

    def is_zero(self) -> bool:
        return self.content().count(0) == self.size


def _has_children() -> bool:
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
