"""Reads the generated sources of a folder: C++ files, and under Inductor the strings of `output_code.py`.

The texts are grouped into units, one per operator; nothing is executed. What they hold is found by
`autofuse_att_perf.formulas`.
"""

from __future__ import annotations

import ast
import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, Iterable, Iterator, List, Set, Tuple

from autofuse.errors import AutofuseError

from autofuse_att_perf import native
from autofuse_att_perf.scopes import blank_comments
from autofuse_att_perf.tape import SourceText

__all__ = ["SourceUnit", "Sources", "read_sources", "stem_of_file"]

_SUFFIXES = (".cpp", ".cc", ".cxx", ".h", ".hpp", ".inc")
_OUTPUT_CODE = "output_code.py"
_MAX_BYTES = 256 * 1024 * 1024
_MAX_FILES = 200_000
_SHARED = "autofuse"
"""Stem of the headers that every generated folder has (`autofuse_tiling_func_common.h`)."""
_OP_NAME = re.compile(r'\bOP_NAME\b\s*(?:\[\s*\]\s*)?(?:=\s*)?"((?:[^"\\\n]|\\.)*)"')
_SPLIT_MARK = re.compile(r"^[ \t]*// AUTOFUSE_SPLIT_FILE_(BEGIN|END):([A-Za-z0-9_.-]+)[ \t\r]*$", re.MULTILINE)
# A file without one of these names holds no formula; most headers do not.
_INTERESTING = re.compile(r"\bGet(?:Perf|UbSize|BlockDim|ub_size|block_dim|TilingDataPerf|AI[A-Z]*_|PIPE_)")


@dataclass
class SourceUnit:
    """The generated texts of one operator: `stem` is what their file names begin with."""

    folder: str
    stem: str
    texts: List[SourceText] = field(default_factory=list)
    op_names: Set[str] = field(default_factory=set)
    """What the texts define as OP_NAME, the name that the log shows."""


@dataclass
class Sources:
    """All units of a folder, and what was looked at."""

    path: str
    units: List[SourceUnit]
    files: int = 0
    """Files with a suffix of generated sources."""
    notices: List[str] = field(default_factory=list)


def read_sources(path: str) -> Sources:
    """The units under `path`. AutofuseError when it is no folder."""
    root = Path(path)
    if not root.exists():
        raise AutofuseError("no such folder", path, "name the folder of the generated sources (*tiling_func*.cpp)")
    if not root.is_dir():
        raise AutofuseError("is a file, not a folder", path, "name the folder of the generated sources")
    sources = Sources(path, [])
    for folder, names in _walk(root, sources):
        sources.units.extend(_folder_units(folder, names, sources))
    return sources


def stem_of_file(name: str) -> str:
    """`argmax_dyn` for `argmax_dyn_tiling_func_solver_func.cpp`; "" for a name of another form."""
    stem, mark, _ = name.partition("_tiling_func")
    return stem if mark else ""


def _walk(root: Path, sources: Sources) -> Iterator[Tuple[str, List[str]]]:
    def unreadable(error: OSError) -> None:
        if error.filename == str(root):
            raise AutofuseError(f"cannot read the folder: {error.strerror}", str(root))
        sources.notices.append(f"{error.filename}: cannot read the folder: {error.strerror}")

    for folder, folders, names in os.walk(root, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        wanted = [name for name in sorted(names) if name == _OUTPUT_CODE or name.lower().endswith(_SUFFIXES)]
        sources.files += len(wanted)
        if sources.files > _MAX_FILES:
            raise AutofuseError(f"more than {_MAX_FILES} source files", str(root), "name a smaller folder")
        if wanted:
            yield folder, wanted


def _folder_units(folder: str, names: List[str], sources: Sources) -> Iterable[SourceUnit]:
    units: Dict[str, SourceUnit] = {}
    for name in names:
        path = os.path.join(folder, name)
        text = _read(path, sources)
        if text is None:
            continue
        if name == _OUTPUT_CODE:
            yield from _inductor_units(folder, path, text, sources)
            continue
        stem = stem_of_file(name)
        unit = units.setdefault("" if stem == _SHARED else stem, SourceUnit(folder, stem))
        _add_text(unit, path, text)
    shared = units.pop("", None)
    if shared is not None and not units:
        shared.stem = os.path.basename(os.path.abspath(folder))
        units[""] = shared
    for unit in units.values():
        if shared is not None and unit is not shared:
            unit.texts.extend(shared.texts)
            unit.op_names.update(shared.op_names)
        yield unit


def _read(path: str, sources: Sources) -> str | None:
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            return None
        if status.st_size > _MAX_BYTES:
            sources.notices.append(f"{path}: larger than {_MAX_BYTES >> 20} MiB, not read")
            return None
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        sources.notices.append(f"{path}: cannot read: {error.strerror}")
        return None
    if b"\0" in data:
        sources.notices.append(f"{path}: holds NUL bytes, no source text")
        return None
    text = data.decode("utf-8-sig", "replace")
    return text.replace("\r\n", "\n") if "\r" in text else text


def _add_text(unit: SourceUnit, path: str, text: str, line: int = 1) -> None:
    if "OP_NAME" in text:
        unit.op_names.update(re.sub(r"\\(.)", r"\1", name) for name in _OP_NAME.findall(text))
    if _INTERESTING.search(text):
        unit.texts.append(SourceText(path, native.blank_comments(text) or blank_comments(text), line))


# --- Inductor ---------------------------------------------------------------------------------------------------------


def _inductor_units(folder: str, path: str, text: str, sources: Sources) -> Iterator[SourceUnit]:
    """One unit per `NAME_artifacts = {…}`; the literal is read, never executed."""
    try:
        assignments = list(_artifact_assignments(ast.parse(text)))
    except _UNREADABLE as error:
        sources.notices.append(f"{path}: no Python source: {_one_line(error)}")
        return
    if not assignments:
        sources.notices.append(f"{path}: no *_artifacts dictionary")
    for name, expression in assignments:
        try:
            value = ast.literal_eval(expression)
        except _UNREADABLE as error:
            sources.notices.append(f"{path}:{expression.lineno}: {name} is no literal: {_one_line(error)}")
            continue
        unit = SourceUnit(folder, name[: -len("_artifacts")])
        for key in ("tiling_def", "host_impl"):
            content = value.get(key) if isinstance(value, dict) else None
            if isinstance(content, str):
                for label, piece, line in _split_files(content):
                    _add_text(unit, f"{path}!{name}.{key}{label}", piece.replace("\r\n", "\n"), line)
        yield unit


_UNREADABLE = (SyntaxError, ValueError, TypeError, RecursionError, MemoryError)
_ADDRESS = re.compile(r": <ast\.(\w+) object at 0x[0-9a-f]+>")


def _one_line(error: BaseException) -> str:
    return " ".join(_ADDRESS.sub(r" (\1)", str(error)).split())[:200]


def _artifact_assignments(tree: ast.Module) -> Iterator[Tuple[str, ast.expr]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            target, value = node.target, node.value
        else:
            continue
        if isinstance(target, ast.Name) and target.id.endswith("_artifacts"):
            yield target.id, value


def _split_files(text: str) -> Iterator[Tuple[str, str, int]]:
    """(label, text, first line within the string) of each file that the markers of one string hold."""
    begin, key, found = 0, "", False
    for mark in _SPLIT_MARK.finditer(text):
        if mark[1] == "BEGIN":
            begin, key = mark.end(), mark[2]
        elif key == mark[2]:
            found = True
            yield f"!{key}", text[begin : mark.start()], text.count("\n", 0, begin) + 1
            key = ""
    if not found:
        yield "", text, 1
