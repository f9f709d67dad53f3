"""The output of split-slog: many files, collected beside the target, a batch at a time, and put in place at the end."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Sequence, Set, Tuple, Union

from autofuse.errors import AutofuseError
from autofuse.files import make_folder
from autofuse.names import safe_name

from autofuse_att_summary.reading import place_of

__all__ = ["INDEX", "SplitFile", "SplitFolder", "operator_folder"]

INDEX = "index.json"
UNATTRIBUTED = "_unattributed"
_WORK = ".split."

_BUFFERED = 16 << 20
"""Bytes that wait in memory; then they are written, one file after the other, so that only one is open at a time."""


@dataclass
class SplitFile:
    """What index.json says of one file."""

    path: str
    operator: Optional[str]
    side: str
    graph: Optional[int]
    result: Optional[int]
    group: Optional[int]
    case: Optional[int]
    sub_case: str
    lines: int = 0
    first: Tuple[str, int] = ("", 0)
    last: Tuple[str, int] = ("", 0)
    invocations: int = 0
    complete: bool = True

    def count(self, lines: int, first: Tuple[str, int], last: Tuple[str, int]) -> None:
        """Takes note of lines that were written; `first` and `last` are file and line."""
        if self.lines == 0:
            self.first = first
        self.lines += lines
        self.last = last

    def as_dict(self) -> Dict[str, object]:
        """The entry of index.json."""
        return {
            "path": self.path,
            "operator": self.operator,
            "side": self.side,
            "graph": self.graph,
            "result": self.result,
            "group": self.group,
            "case": self.case,
            "sub_case": self.sub_case,
            "lines": self.lines,
            "first_source": self.first[0],
            "first_line": self.first[1],
            "last_source": self.last[0],
            "last_line": self.last[1],
            "invocations": self.invocations,
            "complete": self.complete,
        }


def operator_folder(operator: Optional[str]) -> str:
    """The folder of an operator: safe, and another one for every name."""
    if operator is None:
        return UNATTRIBUTED
    folder = safe_name(operator)
    # An operator of that very name must not be taken for what could not be attributed.
    return safe_name(f"{operator}.") if folder == UNATTRIBUTED else folder


class SplitFolder:
    """Collects the files in a private folder inside the target; `publish` replaces what an earlier run wrote."""

    def __init__(self, target: str) -> None:
        self.target = make_folder(target)
        try:
            self.work = Path(tempfile.mkdtemp(prefix=_WORK, dir=self.target))
        except OSError as error:
            raise AutofuseError(f"cannot write: {error.strerror}", str(self.target)) from error
        self._places: Dict[str, Path] = {}
        """Name → where the file is collected; one flat folder, for making and removing folders is slow."""
        self._waiting: Dict[str, bytearray] = {}
        self._size = 0

    def earlier(self) -> Set[str]:
        """The places of the files that an earlier run left in the target."""
        names = {INDEX, *_listed(self.target / INDEX)}
        names.update(path.relative_to(self.target).as_posix() for path in self.target.glob(f"{_WORK}*/**/*.log"))
        return {place_of(str(self.target / name)) for name in names}

    def append(self, name: str, data: Union[bytes, bytearray]) -> None:
        """Appends to the file `name` (relative, of safe parts only)."""
        waiting = self._waiting.get(name)
        if waiting is None:
            waiting = self._waiting[name] = bytearray()
        waiting += data
        self._size += len(data)
        if self._size > _BUFFERED:
            self._flush()

    def adopt(self, pending: str, name: str) -> None:
        """Moves a file that was written under a provisional name to the end of its final one."""
        self._flush()
        source = self._places[pending]
        place = self._places.setdefault(name, source)
        if place is not source:
            with source.open("rb") as content, place.open("ab") as out:
                shutil.copyfileobj(content, out, 1 << 20)
            source.unlink()

    def publish(self, files: List[SplitFile], extra: Dict[str, object]) -> None:
        """Puts the files and index.json in place of those that an earlier index.json lists."""
        self._flush()
        index = {"schema_version": "att-split/v1", **extra, "files": [entry.as_dict() for entry in files]}
        text = json.dumps(index, ensure_ascii=False, indent=1) + "\n"
        (self.work / INDEX).write_bytes(text.encode("utf-8", "backslashreplace"))
        self._check_places([INDEX, *(entry.path for entry in files)])
        earlier = list(_listed(self.target / INDEX))
        with contextlib.suppress(FileNotFoundError):
            (self.target / INDEX).unlink()
        for entry in files:
            place = self.target / entry.path
            place.parent.mkdir(parents=True, exist_ok=True)
            os.replace(self._places[entry.path], place)
        self._remove({*earlier} - {entry.path for entry in files})
        os.replace(self.work / INDEX, self.target / INDEX)

    def _check_places(self, names: Sequence[str]) -> None:
        """Nothing is touched unless everything can be put in place, and all of it inside the target."""
        for name in names:
            if (self.target / name).is_dir():
                raise AutofuseError("is a folder; a file of that name is to be written", str(self.target / name))
        for folder in sorted({folder for name in names for folder in self._folders(name)}):
            if folder.is_symlink():
                raise AutofuseError("is a link, which may lead out of the folder", str(folder), "remove it")
            if folder.exists() and not folder.is_dir():
                raise AutofuseError("is a file; a folder of that name is to be made", str(folder))

    def _folders(self, name: str) -> List[Path]:
        """The folders between the target and a file, the innermost first."""
        return [self.target / parent for parent in list(Path(name).parents)[:-1]]

    def close(self) -> None:
        """Removes what was not published."""
        shutil.rmtree(self.work, ignore_errors=True)

    def _flush(self) -> None:
        for name, waiting in self._waiting.items():
            place = self._places.get(name)
            if place is None:
                place = self._places[name] = self.work / f"{len(self._places)}.log"
            with place.open("ab") as out:
                out.write(waiting)
        self._waiting.clear()
        self._size = 0

    def _remove(self, names: Set[str]) -> None:
        """Removes files of an earlier run, and the folders that are empty then."""
        emptied: Set[Path] = set()
        for name in names:
            folders = self._folders(name)
            if any(folder.is_symlink() for folder in folders):
                continue
            with contextlib.suppress(OSError):
                (self.target / name).unlink()
                emptied.update(folders)
        for folder in sorted(emptied, key=lambda folder: -len(folder.parts)):
            with contextlib.suppress(OSError):
                folder.rmdir()


def _listed(index: Path) -> Iterator[str]:
    """The files of an earlier run, as far as they are ones this tool can have written."""
    try:
        entries = json.loads(index.read_text(encoding="utf-8"))["files"]
        names = [entry["path"] for entry in entries]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return
    for name in names:
        parts = str(name).split("/")
        if parts[-1].endswith(".log") and all(part not in ("", ".", "..") for part in parts):
            yield "/".join(parts)
