"""What `perf-formula` costs: 500 operators x 30 cases with formulas, against 50 operators and against the Python twin.

    python benchmarks/bench_perf_formula.py [OPERATORS [CASES]]

Sources in the newest style (about 5 KiB per case) and their log are written to a temporary folder first. The limit is
5 s for the whole command with its drawing, interpreter included; cost should grow with the number of operators and no
faster.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Dict, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "plugins" / "att_perf" / "tests"))

from perf_sources import Case, Group, Operator, write_log, write_sources  # noqa: E402

LIMIT = 5.0


def main() -> None:
    """Prints one line per measurement."""
    given = [int(text) for text in sys.argv[1:3]]
    operators, cases = [*given, *(500, 30)[len(given) :]]
    few = max(operators // 10, 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder / "few", few, cases)
        write_inputs(folder / "all", operators, cases)
        base = measure(folder / "few", {})
        show(few, cases, base, "")
        whole = measure(folder / "all", {})
        size = (folder / "all" / "out" / "perf_formula.svg").stat().st_size / 1e6
        show(operators, cases, whole, f"{whole.cpu / base.cpu:.1f} x the processor time; svg {size:.1f} MB")
        twin = measure(folder / "few", {"AUTOFUSE_ATT_PERF_PYTHON": "1"})
        show(few, cases, twin, f"without the native twin, {twin.cpu / base.cpu:.1f} x the time")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    load = os.getloadavg()[0]
    print(f"largest process {peak:.0f} MiB; load of the machine {load:.1f}")
    print(f"limit for 500 operators x 30 cases: {LIMIT:.0f} s on an idle machine")


class Cost(NamedTuple):
    """Seconds of one run: by the clock, and of all its processes."""

    wall: float
    cpu: float


def show(operators: int, cases: int, cost: Cost, remark: str) -> None:
    """One line."""
    print(
        f"{operators:4} operators x {cases} cases: {cost.wall:6.2f} s, processor {cost.cpu:6.2f} s   {remark}".rstrip()
    )


def measure(folder: Path, environment: Dict[str, str]) -> Cost:
    """The command with its drawing, interpreter included."""
    command = [sys.executable, "-m", "autofuse", "-q", "run", "perf-formula"]
    command += [str(folder / "src"), str(folder / "a.log"), "-o", str(folder / "out")]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    subprocess.run(command, check=True, env={**os.environ, **environment})
    wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def write_inputs(folder: Path, operators: int, cases: int) -> None:
    """Sources and log; every case has formulas and values of its own."""
    models = []
    for number in range(operators):
        group = Group(
            (0, 0, 0),
            tuple(
                Case(case, tile=64 + 8 * case + number, tiles=1 + case % 7, blocks=8 + case) for case in range(cases)
            ),
        )
        operator = Operator(f"Fusion_{number}_Abs_Add", (group,), {"s0": 100000 + number})
        write_sources(folder / "src" / f"op{number}", operator, stem=f"fusion_{number}")
        models.append(operator)
    write_log(folder / "a.log", *models)


if __name__ == "__main__":
    main()
