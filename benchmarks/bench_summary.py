"""What reading tiling logs costs: summary, evidence and split-slog on plogs of a given size, beside grep.

    python benchmarks/bench_summary.py [--size MEGABYTES] [--repeat N] [--only summary|others]

Baseline of the same run: `LC_ALL=C grep -F -c '[PROF]'` on the same file in the page cache. Logs are written to a
temporary folder, one at a time: 5 % and 50 % of their lines hold tiling data, of 10 and of 500 operators in four
threads; no two calls have the same numbers, and the lines of two threads alternate. Times are the best of the repeats;
memory is the peak of the process.

Limits: with 5 % relevant lines at most 3 times grep; with 50 % at least 150 MB/s; 500 operators cost per byte (in
processor time) what 10 cost; memory under 200 MB whatever the size, and with `--invocations all` growing only with the
rows; evidence and split-slog at most 2.5 times summary.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Iterator, List, Sequence, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from logwriter.entries import Origin
from logwriter.messages import call_messages
from logwriter.model import Call, Candidate, Graph, Group, Producer, Result, Solution
from logwriter.wrap import Plog

PID = 4711
TIDS = (4711, 4733, 4734, 4735)
NAMES = ("z0t_size", "z0Tb_size", "ub_size", "block_dim", "b0_size", "b1_size", "q0_size", "q1_size")
PIPES = ("AIV_MTE2", "AIV_MTE3", "AIV_VEC")
OTHER = (
    "Calculating the tiling data for tiling_case_id {n} of score[0]",
    "MultiVarCoreNum: left={n}, right=4095, mid=3072, core_num=2, max=2",
    "Check eval failed, rel_hw_spec:196608, input:result_id: 0, group_id: 0, case_id: {n}, sub_case_id: 0core_num: 48",
    "Set ub_size for tiling case of AscGraph to ((2 * Max((64 * Ceiling((Rational(1 , 8) * z0z1z2t_size))), {n})",
    "Found upper_bound_satisfied_ub:4096, upper_bound:4096, lower_bound:{n}, i:0, input: result_id: 0, group_id: 0",
    "condition satisfy UB size cache line",
)


@dataclass(frozen=True)
class Measured:
    """One command: time and processor time in seconds, peak memory in MB, and what it printed."""

    seconds: float
    processor: float
    megabytes: float
    output: str


def main() -> None:
    """Prints the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--size", type=int, default=1000, help="megabytes of each log")
    options.add_argument("--repeat", type=int, default=3)
    options.add_argument("--only", choices=("summary", "others"))
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-summary-") as folder:
        bench = Bench(Path(folder), chosen.size << 20, chosen.repeat)
        if chosen.only != "others":
            bench.summaries()
        if chosen.only != "summary":
            bench.others()


class Bench:
    """Writes one log after the other and measures commands on it."""

    def __init__(self, folder: Path, size: int, repeat: int) -> None:
        self.path = folder / f"plog-{PID}_20260801094225178.log"
        self.size = size
        self.repeat = repeat

    def summaries(self) -> None:
        """summary beside grep, by share and operators; then what keeping all invocations costs."""
        print(f"summary, {self.size >> 20} MB, best of {self.repeat}\n")
        table: List[Tuple[str, ...]] = [
            ("relevant", "operators", "grep s", "summary s", "cpu s", "x grep", "MB/s", "peak MB", "limit")
        ]
        per_byte = {}
        for share in (0.05, 0.5):
            for operators in (10, 500):
                size = write_log(self.path, self.size, share, operators)
                grep = self._grep()
                summary = self._best(["summary", self.path, "-f", "csv"])
                per_byte[share, operators] = summary.processor / size
                ratio, speed = summary.seconds / grep.seconds, size / summary.seconds / 1e6
                good = summary.megabytes < 200 and (ratio <= 3 if share < 0.5 else speed >= 150)
                times = (f"{grep.seconds:.2f}", f"{summary.seconds:.2f}", f"{summary.processor:.2f}")
                row = (*times, f"{ratio:.2f}", f"{speed:.0f}")
                limit = "ok" if good else "MISSED"
                table.append((f"{share:.0%}", str(operators), *row, f"{summary.megabytes:.0f}", limit))
        show(table)
        for share in (0.05, 0.5):
            ratio = per_byte[share, 500] / per_byte[share, 10]
            print(f"{share:.0%} relevant: 500 operators cost {ratio:.2f} times per byte what 10 cost")
        self._memory()

    def _memory(self) -> None:
        print("\nmemory by size, 50 % relevant, 500 operators\n")
        table: List[Tuple[str, ...]] = [("MB", "default peak MB", "all: rows", "all: peak MB", "bytes per row")]
        before = None
        for size in (self.size // 4, self.size // 2, self.size):
            write_log(self.path, size, 0.5, 500)
            default = self._best(["summary", self.path, "-f", "csv"], 1)
            everything = self._best(["summary", self.path, "-f", "csv", "--invocations", "all"], 1)
            rows = everything.output.count("\n") - 1
            grown = "-" if before is None else f"{(everything.megabytes - before[1]) * 1e6 / (rows - before[0]):.0f}"
            before = (rows, everything.megabytes)
            row = (f"{default.megabytes:.0f}", str(rows), f"{everything.megabytes:.0f}", grown)
            table.append((str(size >> 20), *row))
        show(table)

    def others(self) -> None:
        """evidence and split-slog beside summary."""
        print(f"\nevidence and split-slog, {self.size >> 20} MB, best of {self.repeat}\n")
        table: List[Tuple[str, ...]] = [
            ("relevant", "operators", "command", "s", "cpu s", "x summary", "peak MB", "limit")
        ]
        for share in (0.05, 0.5):
            write_log(self.path, self.size, share, 50)
            summary = self._best(["summary", self.path, "-f", "csv"])
            row = (f"{summary.seconds:.2f}", f"{summary.processor:.2f}", "1.00", f"{summary.megabytes:.0f}")
            table.append((f"{share:.0%}", "50", "summary", *row, "-"))
            for command in ("evidence", "split-slog"):
                out = self.path.parent / "out"
                found = self._best([command, self.path, "-o", out], prepare=lambda out=out: clear(out))  # type: ignore[misc]
                clear(out)
                ratio = found.seconds / summary.seconds
                row = (f"{found.seconds:.2f}", f"{found.processor:.2f}", f"{ratio:.2f}", f"{found.megabytes:.0f}")
                table.append((f"{share:.0%}", "50", command, *row, "ok" if ratio <= 2.5 else "MISSED"))
        show(table)

    def _grep(self) -> Measured:
        command = ["grep", "-F", "-c", "[PROF]", str(self.path)]
        run(command)  # brings the file into the cache
        return min((run(command) for _ in range(self.repeat)), key=lambda one: one.seconds)

    def _best(self, command: Sequence[object], repeat: int = 0, prepare: Callable[[], None] = lambda: None) -> Measured:
        words = [sys.executable, "-m", "autofuse", "-q", "run", *map(str, command)]
        found = []
        for _ in range(repeat or self.repeat):
            prepare()
            found.append(run(words))
        return min(found, key=lambda one: one.seconds)


def run(command: Sequence[str]) -> Measured:
    """Runs a command in a process of its own; its peak memory is that of this process alone."""
    with tempfile.TemporaryFile() as output:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, env={**os.environ, "LC_ALL": "C.UTF-8"})
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 1):
            raise SystemExit(f"exit code {process.returncode}: {' '.join(command)}")
        output.seek(0)
        return Measured(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000, output.read().decode())


def clear(folder: Path) -> None:
    """Removes what a command wrote."""
    shutil.rmtree(folder, ignore_errors=True)


def show(table: List[Tuple[str, ...]]) -> None:
    """Prints a Markdown table."""
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    for number, row in enumerate(table):
        print("| " + " | ".join(cell.rjust(width) for cell, width in zip(row, widths)) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    print()


# --- logs -------------------------------------------------------------------------------------------------------------


def write_log(path: Path, size: int, share: float, operators: int) -> int:
    """Writes a plog of about `size` bytes in which `share` of the lines hold tiling data; gives its size."""
    chance = random.Random(1)
    shapes = [Shape(TIDS[number % 2 * 2 :][:2], share, chance) for number in range(20)]
    with path.open("wb") as file:
        number = 0
        while file.tell() < size:
            pair = (number * 2 % operators, (number * 2 + 1) % operators)
            file.write(shapes[number % len(shapes)].text(pair, number))
            number += 1
        return file.tell()


class Shape:
    """Two calls of two threads whose lines alternate, with holes for numbers and operators: text is made fast."""

    def __init__(self, tids: Sequence[int], share: float, chance: random.Random) -> None:
        calls = [self._lines(name, tid, share, chance) for name, tid in zip(_STAND_INS, tids)]
        text = b"\n".join(_alternating(calls, chance)) + b"\n"
        self.holes = [found.group() for found in _HOLE.finditer(text)]
        self.template = _HOLE.sub(b"%s", text.replace(b"%", b"%%"))

    def text(self, operators: Sequence[int], call: int) -> bytes:
        """The calls of two operators with numbers of their own."""
        names = {one: b"autofuse_fused_%d_Mul_Sum" % number for one, number in zip(_STAND_INS_BYTES, operators)}
        return self.template % tuple(
            names.get(hole) or b"%d" % (100000 + (call * 31 + place) % 900000) for place, hole in enumerate(self.holes)
        )

    def _lines(self, operator: str, tid: int, share: float, chance: random.Random) -> List[bytes]:
        lines: List[bytes] = []
        entries = call_messages(_call(operator), Origin(PID, tid), Producer(update_best=True))
        for number, entry in enumerate(entry for entry in entries if entry.kind != "chatter"):
            lines.append(Plog()(entry, number) or b"")
            lines.extend(_others(share, tid, operator, number, chance))
        return lines


_STAND_INS = ("OperatorOne", "OperatorTwo")
_STAND_INS_BYTES = tuple(name.encode() for name in _STAND_INS)
_HOLE = re.compile(b"777777|OperatorOne|OperatorTwo")


def _alternating(calls: Sequence[List[bytes]], chance: random.Random) -> Iterator[bytes]:
    at = [0] * len(calls)
    while any(place < len(lines) for place, lines in zip(at, calls)):
        for number, lines in enumerate(calls):
            count = chance.randint(1, 12)
            yield from lines[at[number] : at[number] + count]
            at[number] += count


def _call(operator: str) -> Call:
    """Two results of two groups of three templates: about 200 lines."""
    values = [(name, "777777") for name in NAMES] + [(pipe, "777777.123456") for pipe in PIPES]
    candidates = tuple(
        Candidate(case, tag, Solution(tuple(values), "777777.500000")) for case, tag in ((0, ""), (1, ""), (1, "R"))
    )
    groups = (Group(0, candidates, 1, (("s0", "777777"), ("s1", "512"))), Group(1, candidates, 2, (("A_size", "4"),)))
    results = tuple(Result(number, groups, "777777.250000") for number in (0, 1))
    return Call(operator, (Graph(0, results, 1),))


def _others(share: float, tid: int, operator: str, number: int, chance: random.Random) -> Iterator[bytes]:
    """The lines without tiling data that follow one with; on average (1 - share) / share."""
    wanted = (1 - share) / share
    for _ in range(int(wanted) + (chance.random() < wanted % 1)):
        text = chance.choice(OTHER).format(n=chance.randint(0, 99))
        head = (
            f"[DEBUG] GE({PID},python3):2026-08-01-10:42:25.178.318 [{operator}_tiling_func_solver_func.cpp:723]{tid}"
        )
        yield f"{head} GetTiling:[{operator}]{text}".encode()


if __name__ == "__main__":
    main()
