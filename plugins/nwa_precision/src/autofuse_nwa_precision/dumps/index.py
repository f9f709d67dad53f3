"""The index of a dump folder: every dump file found in one pass, by operator name, in the order the dumps were made.

Names come from files and graphs of others: they are dictionary keys here, never patterns and never paths.
"""

from __future__ import annotations

import csv
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Set, Tuple, Union

from autofuse.errors import AutofuseError

from autofuse_nwa_precision.dumps.names import DumpName, Place, mapped, parse_name, place_of

__all__ = ["DumpFile", "DumpIndex", "ModelKey", "index_folder"]

_MAPPING = "mapping.csv"
_LOCALE_IS_UTF8 = sys.getfilesystemencoding().lower().replace("-", "") == "utf8"

ModelKey = Tuple[str, str, str]
"""Device, model name, model id."""


class DumpFile(NamedTuple):
    """One file of the index; the path is put together when it is asked for."""

    folder: str
    file: str
    name: DumpName
    place: Place

    @property
    def path(self) -> str:
        """The file's path."""
        return os.path.join(self.folder, self.file)

    @property
    def model(self) -> ModelKey:
        """The model the dump belongs to."""
        return self.place[:3]

    @property
    def order(self) -> Tuple[str, int, int, int, str]:
        """Sorts the dumps of one operator of one model and data index by when they were made."""
        name = self.name
        return (self.place.time, name.timestamp, name.task, name.thread, self.file)


@dataclass
class DumpIndex:
    """All dump files below `root`."""

    root: str
    files: int = 0
    """Dump files found."""
    foreign: int = 0
    """Files that are no dump by their name."""
    notices: List[str] = field(default_factory=list)
    models: Set[ModelKey] = field(default_factory=set)
    _by_name: Dict[str, List[Tuple[str, DumpFile]]] = field(default_factory=dict)

    def dumps_of(self, operator: str, op_type: str, side: str, index: int) -> List[DumpFile]:
        """The dump files that hold `side` `index` of the operator, in the order they were made.

        A raw file counts for each tensor of its operator; where the same dump also lies there as npy (converted), the
        raw file is taken, since it alone says layout and original shape. An empty `op_type` matches every type.
        """
        wanted_type = mapped(op_type)
        found: Dict[Tuple[object, ...], DumpFile] = {}
        for file_type, dump in self._by_name.get(mapped(operator), ()):
            name = dump.name
            if name.side and (name.side != side or name.index != index):
                continue
            if wanted_type and file_type != wanted_type:
                continue
            key = (dump.folder, name.timestamp, name.task, name.thread)
            # Of two npy files for one tensor (one per layout) the first by name is taken, whatever the folder's order.
            if key not in found or (name.side, dump.file) < (found[key].name.side, found[key].file):
                found[key] = dump
        return sorted(found.values(), key=lambda dump: dump.order)

    def outputs_of(self, operator: str, op_type: str) -> List[DumpFile]:
        """The files that hold any output of the operator: raw ones, and one npy file for each output."""
        wanted = mapped(op_type)
        held = self._by_name.get(mapped(operator), ())
        return [dump for file_type, dump in held if file_type == wanted and dump.name.side != "input"]

    def types_of(self, operator: str) -> Set[str]:
        """The operator types, as files spell them, under which a name occurs."""
        return {file_type for file_type, _ in self._by_name.get(mapped(operator), ())}

    def add(self, dump: DumpFile) -> None:
        """Files a dump under every way its words can be split into a type and a name."""
        words = dump.name.words
        for at in range(1, len(words)):
            key = mapped("_".join(words[at:]))
            self._by_name.setdefault(key, []).append((mapped("_".join(words[:at])), dump))
        self.models.add(dump.model)
        self.files += 1


def index_folder(root: Union[str, Path]) -> DumpIndex:
    """Reads the folder and everything below it once; AutofuseError when it is none or holds no dump file."""
    index = DumpIndex(str(root))
    if not os.path.isdir(index.root):
        what = "is a file, not a folder of dumps" if os.path.exists(index.root) else "no such folder"
        raise AutofuseError(what, index.root, "name the dump_path of a run")
    for folder, below, files in _folders(index):
        _add_folder(index, folder, place_of(below), files)
    if not index.files:
        seen = f"none of its {index.foreign} files is a dump" if index.foreign else "it is empty"
        raise AutofuseError(f"holds no dump file: {seen}", index.root, "name the dump_path of a run")
    return index


def _folders(index: DumpIndex) -> Iterator[Tuple[str, Tuple[str, ...], List[str]]]:
    """Folder, its names below the root, its files. Links to folders are followed once."""
    waiting: List[Tuple[str, Tuple[str, ...]]] = [(index.root, ())]
    seen: Set[Tuple[int, int]] = set()
    while waiting:
        folder, below = waiting.pop()
        files: List[str] = []
        try:
            status = os.stat(folder)
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            with os.scandir(folder) as entries:
                for entry in entries:
                    kind = _kind(entry)
                    if kind == "folder":
                        waiting.append((entry.path, (*below, entry.name)))
                    elif kind == "file":
                        files.append(entry.name)
        except OSError as error:
            index.notices.append(f"{folder}: cannot be read: {error.strerror}")
        yield folder, below, files


def _kind(entry: os.DirEntry[str]) -> str:
    """Pipes and devices must not be opened, and a link that cannot be followed is nothing."""
    try:
        return "folder" if entry.is_dir() else "file" if entry.is_file() else ""
    except OSError:
        return ""


def _add_folder(index: DumpIndex, folder: str, place: Place, files: List[str]) -> None:
    renamed = _read_mapping(index, folder) if _MAPPING in files else {}
    for file in files:
        if file == _MAPPING:
            continue
        shown = _as_written(file)
        name = parse_name(_original(shown, renamed)) if renamed else parse_name(shown)
        if name is None:
            index.foreign += 1
        else:
            index.add(DumpFile(folder, file, name, place))


def _as_written(file: str) -> str:
    """The name as GE wrote it, in UTF-8: Python decodes names by the locale of whoever looks at them."""
    return file if _LOCALE_IS_UTF8 or file.isascii() else os.fsencode(file).decode("utf-8", "surrogateescape")


def _original(file: str, renamed: Dict[str, str]) -> str:
    """The name before it was shortened to a number; the number may carry the ending of the file."""
    stem, ending = os.path.splitext(file)
    original = renamed.get(file)
    if original is not None:
        return original
    original = renamed.get(stem) if ending == ".npy" else None
    if original is None:
        return file
    return original if original.endswith(ending) else original + ending


def _read_mapping(index: DumpIndex, folder: str) -> Dict[str, str]:
    """`number,original name` of files whose name was longer than 255 bytes."""
    path = os.path.join(folder, _MAPPING)
    try:
        with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            # A name may hold commas; it is the rest of its row.
            return {row[0].strip(): ",".join(row[1:]).strip() for row in csv.reader(file) if len(row) > 1}
    except (OSError, csv.Error) as error:
        index.notices.append(f"{path}: cannot be read, its files are not compared: {error}")
        return {}
