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
from typing import Dict, Tuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "plugins" / "att_perf" / "tests"))

from perf_sources import Case, Group, Operator, write_log, write_sources  # noqa: E402

LIMIT = 5.0


def main() -> None:
    """Prints one line per measurement."""
    operators, cases = (int(text) for text in (*sys.argv[1:3], "500", "30")[:2]) if sys.argv[1:] else (500, 30)
    with tempfile.TemporaryDirectory() as folder:
        small, many = max(operators // 10, 1), operators
        base, _ = measure(Path(folder) / "small", small, cases, {})
        seconds, size = measure(Path(folder) / "many", many, cases, {})
        print(f"{small:4} operators x {cases} cases: {base:6.2f} s")
        print(
            f"{many:4} operators x {cases} cases: {seconds:6.2f} s   {seconds / base:.1f} x   svg {size / 1e6:.1f} MB"
        )
        twin, _ = measure(Path(folder) / "small", small, cases, {"AUTOFUSE_ATT_PERF_PYTHON": "1"})
        print(f"{small:4} operators x {cases} cases: {twin:6.2f} s   without the native twin, {twin / base:.1f} x")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"largest process {peak:.0f} MiB; limit {LIMIT:.0f} s for 500 x 30; load {os.getloadavg()[0]:.1f}")


def measure(folder: Path, operators: int, cases: int, environment: Dict[str, str]) -> Tuple[float, int]:
    """Seconds of the command, and bytes of its drawing."""
    if not folder.exists():
        write_inputs(folder, operators, cases)
    command = [
        sys.executable,
        "-m",
        "autofuse",
        "-q",
        "run",
        "perf-formula",
        str(folder / "src"),
        str(folder / "a.log"),
    ]
    begin = time.perf_counter()
    subprocess.run([*command, "-o", str(folder / "out")], check=True, env={**os.environ, **environment})
    return time.perf_counter() - begin, (folder / "out" / "perf_formula.svg").stat().st_size


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
