"""What each reporter costs: rows per second as a ratio to the standard library's csv writer, and the size of the page.

    python benchmarks/bench_reporters.py [ROWS [COLUMNS]]

All run in this process on one table in memory, logged numbers and text mixed as in a summary. Each round measures the
library and the reporter in turn, so that a busy machine burdens both, and the median of the ratios counts. The page is
measured with 10,000 rows, whose limit is 8 MB. Peak memory of csv and xlsx is measured apart, in processes of their own
with rows that are made when they are read, for two numbers of rows: it should not grow.
"""

from __future__ import annotations

import csv
import io
import os
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import BinaryIO, Callable, Iterable, Iterator, List, Tuple

from autofuse.report.model import Cell, Column, Number, Report, ReportContext, Table
from autofuse_formats.reporters import console, csv_table, html, jsonl, markdown, xlsx

PAGE_ROWS = 10_000
PAGE_LIMIT_MB = 8.0
ROUNDS = 5
WRITERS = {
    "csv": csv_table.write,
    "jsonl": jsonl.write,
    "md": markdown.write,
    "text": console.write_text,
    "xlsx": xlsx.write,
    "html": html.write,
}


class Rows:
    """`count` rows of `width` cells, made when they are read: a name, a log line, and numbers as logged."""

    def __init__(self, count: int, width: int) -> None:
        self.count = count
        self.width = width

    def __iter__(self) -> Iterator[Tuple[Cell, ...]]:
        for index in range(self.count):
            numbers = [_number(index, place) for place in range(self.width - 3)]
            yield (f"autofuse_pointwise_{index // 8}_Abs_Add", *numbers, f"/log/plog-{index // 500}.log", index + 1)


def table(rows: Iterable[Tuple[Cell, ...]], width: int) -> Table:
    """A table as `summary` makes it."""
    numbers = [Column(f"value_{place}", "float") for place in range(width - 3)]
    columns = (Column("Operator"), *numbers, Column("Source", hidden=True), Column("Line", "int", hidden=True))
    return Table("summary", columns, rows)


def main() -> None:
    """Prints one line per reporter, then the page, then memory."""
    rows, width = (int(text) for text in (*sys.argv[1:3], "50000", "20")[:2]) if len(sys.argv) > 2 else (50_000, 20)
    content = list(Rows(rows, width))
    print(f"{rows} rows x {width} columns")
    for name, write in WRITERS.items():
        report = Report("benchmark", (table(content, width),))
        pairs = [(timed(partial(baseline, content)), timed(partial(run, write, report))) for _ in range(ROUNDS)]
        ratio = statistics.median(seconds / base for base, seconds in pairs)
        fastest = min(seconds for _, seconds in pairs)
        print(f"{name:6} {fastest:6.2f} s   {ratio:5.1f} x csv.writer   {rows / fastest:10,.0f} rows/s")
    page()
    for name in ("csv", "xlsx"):
        small, large = (peak_mib(name, count, width) for count in (rows, 4 * rows))
        print(f"{name:6} peak memory {small:.0f} MiB for {rows} rows, {large:.0f} MiB for {4 * rows}")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


def run(write: Callable[[Report, BinaryIO, ReportContext], None], report: Report) -> None:
    """Writes the report to memory."""
    write(report, io.BytesIO(), ReportContext(to_file=True))


def baseline(content: List[Tuple[Cell, ...]]) -> None:
    """What the standard library needs for the same cells."""
    csv.writer(io.StringIO(), lineterminator="\n").writerows(content)


def page() -> None:
    """Size of a page of 10,000 rows with 44 columns."""
    out = io.BytesIO()
    html.write(Report("benchmark", (table(Rows(PAGE_ROWS, 44), 44),)), out, ReportContext(to_file=True))
    size = len(out.getvalue()) / 1e6
    print(f"page of {PAGE_ROWS} rows x 44 columns: {size:.1f} MB; limit {PAGE_LIMIT_MB:.0f} MB")


def timed(work: Callable[[], object]) -> float:
    """Seconds of one run."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def peak_mib(name: str, rows: int, width: int) -> float:
    """Largest memory of a process that writes the rows with one reporter."""
    done = subprocess.run(
        [sys.executable, __file__, "--peak", name, str(rows), str(width)], stdout=subprocess.PIPE, check=True
    )
    return float(done.stdout)


def write_alone(name: str, rows: int, width: int) -> None:
    """Writes to nowhere and prints the peak memory of this process; getrusage would count its parent's pages too."""
    with open(os.devnull, "wb") as out:
        WRITERS[name](Report("benchmark", (table(Rows(rows, width), width),)), out, ReportContext(to_file=True))
    status = Path("/proc/self/status").read_text(encoding="ascii")
    print(int(status.partition("VmHWM:")[2].split()[0]) / 1024)


def _number(index: int, place: int) -> Cell:
    if (index + place) % 11 == 0:
        return None
    value = (index * 7919 + place * 104_729) % 999_983
    return Number(str(value)) if place % 2 else Number(f"{value}.{value % 1000:06d}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peak"]:
        write_alone(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
