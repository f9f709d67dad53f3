"""Acceptance of interruptions: signals that come twice, at the worst moments, leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import List

import pytest
from autofuse_att_verify.interrupts import held, interruptible, temporary_folder
from autofuse_att_verify.processes import kill_tree
from tiling_operators import users_of


def _send(number: signal.Signals = signal.SIGINT) -> None:
    os.kill(os.getpid(), number)


def _interrupted_twice(folders: List[Path]) -> None:
    with interruptible(), temporary_folder() as folder:
        folders.append(folder)
        try:
            _send()
        finally:
            _send(signal.SIGTERM)
            _send(signal.SIGHUP)


def test_a_second_signal_does_not_interrupt_the_tidying_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It comes in the moment between the first one's exception and the removal."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folders: List[Path] = []
    with pytest.raises(KeyboardInterrupt):
        _interrupted_twice(folders)
    assert [folder.exists() for folder in folders] == [False]


def _interrupted_while_held(reached: List[str]) -> None:
    with interruptible():
        with held():
            _send()
            reached.append("held")
        reached.append("not here")


def test_what_is_held_off_arrives_afterwards() -> None:
    reached: List[str] = []
    with pytest.raises(KeyboardInterrupt):
        _interrupted_while_held(reached)
    assert reached == ["held"]


def test_a_signal_long_after_one_that_was_swallowed_counts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autofuse_att_verify.interrupts._PATIENCE_SECONDS", 0.0)
    with interruptible():
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                _send()


def test_each_run_in_one_process_can_be_interrupted() -> None:
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt), interruptible():
            _send()


def test_a_child_that_is_started_while_its_parent_is_told_to_go(tmp_path: Path) -> None:
    """The shell that is asked to end starts another one, as a compiler does its linker, and is gone."""
    script = "trap 'sh -c \"cd $0; sleep 60\" & exit 0' TERM; echo ready; sleep 60 & wait"
    words = ["sh", "-c", script, str(tmp_path)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    kill_tree(process)
    process.stdout.close()
    assert users_of(tmp_path) == []
    assert process.returncode == 0
