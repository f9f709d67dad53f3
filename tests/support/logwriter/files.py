"""From a run to log files: interleaves threads and processes, wraps every message, adds noise, rotates.

Every line remembers the entry it was made of, so that `expected` can say where things stand.
"""

from __future__ import annotations

import dataclasses
import random
from dataclasses import dataclass, field
from typing import Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from logwriter.entries import Entry, Origin
from logwriter.messages import call_messages, compilation_messages
from logwriter.model import Run
from logwriter.noise import application_line, garbage_line, module_line
from logwriter.wrap import Wrapping

__all__ = ["Layout", "Line", "LogFile", "entries_of", "files_of", "folder_of", "write"]


@dataclass(frozen=True)
class Line:
    """One line of a file without its line end, and the entry it was made of (None: noise)."""

    data: bytes
    entry: Optional[Entry] = None


@dataclass(frozen=True)
class LogFile:
    """One file. `process` names the set of rotated files it belongs to."""

    name: str
    process: str
    lines: Tuple[Line, ...]
    pid: Optional[int] = None
    """Where the name tells."""
    line_end: bytes = b"\n"
    bom: bool = False
    last_line_end: bool = True

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        text = self.line_end.join(line.data for line in self.lines)
        end = self.line_end if self.last_line_end and self.lines else b""
        return (b"\xef\xbb\xbf" if self.bom else b"") + text + end

    def keep(self, wanted: Callable[[Line], bool]) -> LogFile:
        """The file without the lines that are not wanted."""
        return dataclasses.replace(self, lines=tuple(line for line in self.lines if wanted(line)))


@dataclass(frozen=True)
class Layout:
    """How a run becomes files; chance decides by `seed` alone."""

    wrapping: Wrapping = field(default_factory=Wrapping)
    seed: int = 0
    noise: float = 0.0
    """Lines of other modules, of the application and garbage per line of the run."""
    blank_lines: float = 0.0
    line_end: bytes = b"\n"
    bom: bool = False
    newline_first: bool = False
    """Unit tests print the newline before the text."""
    last_line_end: bool = True
    parts: int = 1
    """Rotated files per process."""
    together: bool = False
    """All processes in one redirected standard output instead of a plog file each."""


def write(run: Run, layout: Layout = Layout()) -> List[LogFile]:
    """The log files of the run, those of a process in time order."""
    return files_of(entries_of(run), layout)


def entries_of(run: Run) -> Dict[Tuple[int, int], List[Entry]]:
    """The messages of each thread, under (pid, tid)."""
    calls = 0
    threads: Dict[Tuple[int, int], List[Entry]] = {}
    for process in run.processes:
        for thread in process.threads:
            entries = threads.setdefault((process.pid, thread.tid), [])
            for compilation in thread.compilations:
                entries.extend(compilation_messages(compilation, Origin(process.pid, thread.tid), process.name))
            for call in thread.calls:
                entries.extend(call_messages(call, Origin(process.pid, thread.tid, calls), run.producer, process.name))
                calls += 1
    return threads


def files_of(threads: Dict[Tuple[int, int], List[Entry]], layout: Layout) -> List[LogFile]:
    """The files of the given messages."""
    chance = random.Random(layout.seed)
    pids = list(dict.fromkeys(pid for pid, _ in threads))
    sets = [("stdout", None, pids)] if layout.together else [(f"plog-{pid}", pid, [pid]) for pid in pids]
    files: List[LogFile] = []
    for name, pid, wanted in sets:
        streams = [entries for (owner, _), entries in threads.items() if owner in wanted]
        lines = list(_lines(_interleaved(streams, chance), layout, chance))
        files.extend(_rotated(name, pid, lines, layout, chance))
    return files


def folder_of(files: Sequence[LogFile]) -> Dict[str, bytes]:
    """Name → bytes, as a folder of CANN logs holds them."""
    return {file.name: file.data for file in files}


def _interleaved(streams: Sequence[List[Entry]], chance: random.Random) -> Iterator[Entry]:
    """Threads take turns of random length."""
    waiting = [iter(stream) for stream in streams if stream]
    while waiting:
        stream = chance.choice(waiting)
        for _ in range(chance.choice((1, 1, 2, 3, 7, 20))):
            entry = next(stream, None)
            if entry is None:
                waiting.remove(stream)
                break
            yield entry


def _lines(entries: Iterator[Entry], layout: Layout, chance: random.Random) -> Iterator[Line]:
    if layout.newline_first:
        yield Line(b"")
    number = 0
    for entry in entries:
        number += 1
        data = layout.wrapping(entry, number, chance)
        if data is None:
            continue
        if chance.random() < layout.noise:
            yield from _noise(entry, number, layout, chance)
        if chance.random() < layout.blank_lines:
            yield Line(b"")
        yield Line(data, entry)


def _noise(entry: Entry, number: int, layout: Layout, chance: random.Random) -> Iterator[Line]:
    kind = chance.random()
    if kind < 0.6:
        line = module_line(chance, entry.origin.pid, entry.origin.tid, number)
        yield Line(layout.wrapping.around(line, number, chance))
    elif kind < 0.9:
        for piece in application_line(chance, number).split(b"\n"):
            yield Line(piece)
    else:
        yield Line(garbage_line(chance))


def _rotated(
    name: str, pid: Optional[int], lines: List[Line], layout: Layout, chance: random.Random
) -> Iterator[LogFile]:
    cuts = sorted(chance.randint(0, len(lines)) for _ in range(layout.parts - 1))
    bounds = [0, *cuts, len(lines)]
    for part, (begin, end) in enumerate(zip(bounds, bounds[1:])):
        last = part == layout.parts - 1
        yield LogFile(
            _file_name(name, part, layout),
            name,
            tuple(lines[begin:end]),
            pid,
            layout.line_end,
            layout.bom,
            not last or (layout.last_line_end and not layout.newline_first),
        )


def _file_name(name: str, part: int, layout: Layout) -> str:
    if name.startswith("plog-"):
        return f"{name}_{20260801094225178 + part}.log"
    age = layout.parts - 1 - part
    return f"{name}.log.{age}" if age else f"{name}.log"
