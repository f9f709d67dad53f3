"""What `autofuse --help` costs beyond the bare interpreter, as differences and a ratio of medians.

    python benchmarks/bench_startup.py [ROUNDS]

The commands take turns within each round, so that a busy machine burdens all of them alike; processor time hardly
depends on what else runs. Byte code is compiled before the first round, as an installation does; `-I` keeps the
variables of the environment out of the interpreter.
"""

from __future__ import annotations

import compileall
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Dict, List, Tuple

ROOT = Path(__file__).resolve().parent.parent
LIMIT_MS = 100
RUN = "import sys; from autofuse.cli.main import main; sys.exit(main({words!r}))"
COMMANDS = {
    "autofuse --help": ["--help"],
    "autofuse run --help": ["run", "--help"],
    "autofuse plugins list": ["plugins", "list"],
}


def main() -> None:
    """Prints one line per command."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 21
    for folder in [ROOT / "core" / "src", *sorted(ROOT.glob("plugins/*/src"))]:
        compileall.compile_dir(str(folder), quiet=2)
    runs = measure(rounds)
    bare_wall, bare_cpu = medians(runs.pop("bare"))
    print(f"python -c pass          {bare_wall:7.1f} ms, {bare_cpu:6.1f} ms of processor time (medians of {rounds})")
    for name, values in runs.items():
        wall, cpu = medians(values)
        more, ratio = f"{wall - bare_wall:+7.1f} ms, {cpu - bare_cpu:+6.1f} ms of processor time", wall / bare_wall
        print(f"{name:22}  {more}, {ratio:.1f} x")
    print(f"limit for the two helps: {LIMIT_MS:+} ms")


def measure(rounds: int) -> Dict[str, List[Tuple[float, float]]]:
    """(wall, processor) milliseconds of every run of every command; `bare` is the interpreter alone."""
    scripts = {"bare": "pass", **{name: RUN.format(words=words) for name, words in COMMANDS.items()}}
    runs: Dict[str, List[Tuple[float, float]]] = {name: [] for name in scripts}
    for _ in range(rounds):
        for name, script in scripts.items():
            runs[name].append(run(script))
    return runs


def run(script: str) -> Tuple[float, float]:
    """(wall, processor) milliseconds of one interpreter."""
    begin = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-I", "-c", script], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    process.returncode = os.WEXITSTATUS(status)
    if status:
        raise SystemExit(f"{script} ended with {status}")
    return wall * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3


def medians(values: List[Tuple[float, float]]) -> Tuple[float, float]:
    """The median of each."""
    return statistics.median(wall for wall, _ in values), statistics.median(cpu for _, cpu in values)


if __name__ == "__main__":
    main()
