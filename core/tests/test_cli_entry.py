"""The process `autofuse`: a signal ends it tidily, whatever it is doing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = (sys.executable, "-m", "autofuse")
IMPORTING = """
import signal, sys
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == "autofuse.cli.main":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
from autofuse.cli.entry import run
sys.exit(run())
"""


def test_an_interrupt_while_modules_are_read_shows_no_traceback() -> None:
    ended = subprocess.run([sys.executable, "-c", IMPORTING], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "autofuse: interrupted\n")


@pytest.mark.parametrize(
    ("command", "number", "code"),
    [
        ("split-slog", signal.SIGTERM, 143),
        ("evidence", signal.SIGTERM, 143),
        ("split-slog", signal.SIGINT, 130),
        ("evidence", signal.SIGINT, 130),
    ],
)
def test_a_signal_leaves_nothing_in_the_output(tmp_path: Path, command: str, number: int, code: int) -> None:
    """The log is a pipe that stays open: the command waits for more when the signal comes."""
    pytest.importorskip("autofuse_att_summary")
    output = tmp_path / "out"
    running = subprocess.Popen(
        [*COMMAND, "run", command, "-", "-o", str(output)], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert running.stdin is not None and running.stderr is not None
    line = b"[Add][PROF]The value of q0_size is 1 in graph0_result0_g0_0\n"
    running.stdin.write(line * 200_000)  # more than a pipe holds: when it is written, the command is reading
    running.stdin.flush()
    running.send_signal(number)
    stderr = running.stderr.read()
    running.stdin.close()
    running.stderr.close()
    assert running.wait(60) == code
    assert b"Traceback" not in stderr
    assert not output.exists() or os.listdir(output) == []
