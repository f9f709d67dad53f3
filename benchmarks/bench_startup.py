"""What `autofuse --help` costs beyond the bare interpreter, as a difference and a ratio of medians.

    python benchmarks/bench_startup.py [ROUNDS]

The commands take turns within each round, so that a busy machine burdens all of them alike. Byte code is compiled before
the first round, as an installation does; `-I` keeps the variables of the environment out of the interpreter.
"""

from __future__ import annotations

import compileall
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Dict, List

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
    seconds = measure(rounds)
    bare = statistics.median(seconds.pop("bare"))
    print(f"python -c pass          {bare * 1e3:7.1f} ms   (median of {rounds})")
    for name, values in seconds.items():
        median = statistics.median(values)
        print(f"{name:22}  {median * 1e3:7.1f} ms   +{(median - bare) * 1e3:.1f} ms   {median / bare:.1f} x")
    print(f"limit: +{LIMIT_MS} ms for the two helps")


def measure(rounds: int) -> Dict[str, List[float]]:
    """Seconds of every run of every command; `bare` is the interpreter alone."""
    scripts = {"bare": "pass", **{name: RUN.format(words=words) for name, words in COMMANDS.items()}}
    seconds: Dict[str, List[float]] = {name: [] for name in scripts}
    for _ in range(rounds):
        for name, script in scripts.items():
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-I", "-c", script], stdout=subprocess.DEVNULL, check=True)
            seconds[name].append(time.perf_counter() - begin)
    return seconds


if __name__ == "__main__":
    main()
