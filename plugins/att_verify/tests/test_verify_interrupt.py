"""Ctrl-C, SIGTERM and the death of the tool itself: no process and no temporary folder is left, result.json tells."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Iterator, List, Tuple

import pytest
from tiling_operators import needs_compiler, operator, users_of

pytestmark = needs_compiler

HANG = "for (;;) pause();"
SLOW_COMPILER = '#!/bin/sh\ncase "$*" in *op_tiling*) sleep 61 & wait;; esac\nexec g++ "$@"\n'


@pytest.fixture
def start(tmp_path: Path, tiling_files: Callable[..., Path]) -> Iterator[Callable[..., Tuple[Any, Path]]]:
    """Starts the command in a process of its own and gives it and the folder of its temporary files."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    started: List[subprocess.Popen[bytes]] = []

    def run(body: str, *options: str, **environment: str) -> Tuple[Any, Path]:
        words = [sys.executable, "-m", "autofuse", "run", "verify-tiling", str(tiling_files(operator(body)))]
        process = subprocess.Popen(
            [*words, "-o", str(tmp_path / "out"), *options],
            env={**os.environ, "TMPDIR": str(temporary), "HOME": str(tmp_path), **environment},
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )
        started.append(process)
        return process, temporary

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def _wait_for(condition: Callable[[], Any], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.02)


def _result(temporary: Path) -> Any:
    return json.loads((temporary.parent / "out" / "result.json").read_text())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
@pytest.mark.parametrize("runner", ["native", "python"])
def test_interrupted_in_the_call(start: Callable[..., Any], number: signal.Signals, runner: str) -> None:
    process, temporary = start(HANG, "--runner", runner)
    _wait_for(lambda: any("--library" in words for words in users_of(temporary)))
    process.send_signal(number)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"interrupted" in stderr
    assert b"Traceback" not in stderr
    assert (users_of(temporary), list(temporary.iterdir())) == ([], [])
    assert (_result(temporary)["status"], _result(temporary)["error"]) == ("RUNTIME_FAILED", "interrupted")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_interrupted_in_the_compiler(start: Callable[..., Any], tmp_path: Path, number: signal.Signals) -> None:
    compiler = tmp_path / "slow"
    compiler.write_text(SLOW_COMPILER)
    compiler.chmod(0o755)
    process, temporary = start("", CXX=str(compiler))
    _wait_for(lambda: any(words.startswith("sleep 61") for words in users_of(temporary)))
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert (users_of(temporary), list(temporary.iterdir())) == ([], [])
    assert (_result(temporary)["status"], _result(temporary)["error"]) == ("COMPILE_FAILED", "interrupted")


def test_interrupted_in_a_sweep(start: Callable[..., Any]) -> None:
    process, temporary = start(HANG, "--sweep", "aiv=1:100", "--jobs", "3")
    _wait_for(lambda: sum("--library" in words for words in users_of(temporary)) > 3)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert (users_of(temporary), list(temporary.iterdir())) == ([], [])


@pytest.mark.parametrize("runner", ["native", "python"])
def test_when_the_tool_is_killed_the_calls_end(start: Callable[..., Any], runner: str) -> None:
    """Nobody is left to remove the folder, but what runs in it notices."""
    process, temporary = start(HANG, "--runner", runner)
    _wait_for(lambda: any("--library" in words for words in users_of(temporary)))
    process.kill()
    process.communicate(timeout=30)
    _wait_for(lambda: not users_of(temporary), 10)


def test_a_full_disk_is_told(tiling_files: Callable[..., Path], tmp_path: Path) -> None:
    """The limit on file sizes stands in for a full disk: it hits the result, not the build."""
    code = (
        "import resource, signal, sys\n"
        "import autofuse_att_verify.result as result\n"
        "write = result.Result.write\n"
        "def limited(self, folder):\n"
        "    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "    return write(self, folder)\n"
        "result.Result.write = limited\n"
        "from autofuse.cli.main import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "result.json").write_text("old")
    words = [
        sys.executable,
        "-c",
        code,
        "run",
        "verify-tiling",
        str(tiling_files(operator())),
        "-o",
        str(tmp_path / "out"),
    ]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (run.returncode, "cannot write: File too large" in run.stderr) == (2, True), run.stderr
    assert (tmp_path / "out" / "result.json").read_text() == "old"
    assert [path.name for path in (tmp_path / "out").iterdir() if path.suffix == ".tmp"] == []
