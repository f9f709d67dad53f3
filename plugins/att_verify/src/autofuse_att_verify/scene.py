"""What SOURCE_DIR holds: its scene (TF or inductor) and the files to compile, read into memory within limits.

Only regular files that the build needs are read; nothing in SOURCE_DIR is written or executed here.
"""

from __future__ import annotations

import fnmatch
import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Tuple

from autofuse.errors import AutofuseError

from autofuse_att_verify.artifacts import read_artifacts
from autofuse_att_verify.signature import Signature, read_signature, without_comments

__all__ = ["KEPT_BUILD", "MODULE", "SCENES", "Sources", "is_kept_build", "read_sources"]

SCENES = ("tf", "inductor")
MODULE = "output_code.py"
KEPT_BUILD = "# Written by autofuse run verify-tiling."
"""First line of a generated CMakeLists.txt."""
_UNITS = ("*tiling_func*.cpp", "*infershape*.cpp")
_HEADERS = (".h", ".hpp", ".inc")
_LARGEST_FILE = 256 << 20
_LARGEST_TREE = 1 << 30
_MOST_FILES = 5000
_DEEPEST = 4


@dataclass(frozen=True)
class Sources:
    """The files of one operator: relative name → bytes."""

    folder: str
    """SOURCE_DIR, absolute."""
    scene: str
    """`tf` or `inductor`."""
    files: Dict[str, bytes]
    graph: Optional[str] = None
    """Name of the graph, in the inductor scene."""

    @property
    def units(self) -> Tuple[str, ...]:
        """The translation units, sorted."""
        return tuple(sorted(name for name in self.files if name.endswith(".cpp")))

    def without_infershape(self) -> Sources:
        """The same sources without the translation units that only infer shapes; a call of the tiling needs none."""
        kept = {name: text for name, text in self.files.items() if not fnmatch.fnmatchcase(name, _UNITS[1])}
        return replace(self, files=kept)

    def texts(self) -> Iterator[str]:
        """Every source without comments and strings, translation units first."""
        for name in sorted(self.files, key=lambda name: (not name.endswith(".cpp"), name)):
            yield without_comments(self.files[name].decode("utf-8", "replace"))

    def signature(self) -> Optional[Signature]:
        """The signature of AutofuseTiling; None when no source declares it."""
        return read_signature(self.texts())


def read_sources(folder: str, scene: Optional[str] = None, graph: Optional[str] = None) -> Sources:
    """Everything to compile from `folder`; AutofuseError when it is no folder or holds no scene."""
    root = os.path.abspath(folder)
    names = _listing(root, folder)
    scene = scene or _detect(names, folder)
    if scene == "inductor":
        if MODULE not in names:
            raise AutofuseError(f"has no {MODULE}", folder, "the inductor scene needs it")
        module = os.path.join(root, MODULE)
        source = _read(module, _LARGEST_FILE).decode("utf-8-sig", "replace")
        found = read_artifacts(source, os.path.join(folder, MODULE), graph)
        files = {name: text.encode("utf-8", "replace") for name, text in found.files.items()}
        return Sources(root, scene, files, found.graph)
    if not any(_is_unit(name, 1) for name in names):
        raise AutofuseError("has no *tiling_func*.cpp", folder, "the tf scene needs it" + _nearby(root))
    sources = Sources(root, scene, _collect(Path(root)))
    if not any(_is_unit(name, 1) for name in sources.files):
        raise AutofuseError("no *tiling_func*.cpp is a regular file", folder, "the tf scene needs one")
    return sources


def _listing(root: str, folder: str) -> List[str]:
    try:
        return sorted(os.listdir(root))
    except OSError as error:
        raise AutofuseError(f"cannot read SOURCE_DIR: {error.strerror or error}", folder) from None


def _detect(names: List[str], folder: str) -> str:
    if MODULE in names:
        return "inductor"
    if any(_is_unit(name, 1) for name in names):
        return "tf"
    raise AutofuseError(
        f"is no tiling source: neither {MODULE} (inductor) nor *tiling_func*.cpp (tf)",
        folder,
        "give the folder that Autofuse wrote the host code to" + _nearby(os.path.abspath(folder)),
    )


def _is_unit(name: str, patterns: int = len(_UNITS)) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in _UNITS[:patterns])


def _nearby(root: str) -> str:
    """A subfolder that would do, as a hint."""
    try:
        for name in sorted(os.listdir(root))[:200]:
            inside = os.path.join(root, name)
            if os.path.isdir(inside) and any(_is_unit(n, 1) or n == MODULE for n in os.listdir(inside)):
                return f"; {name!r} in it has some"
    except OSError:
        pass
    return ""


def _collect(root: Path) -> Dict[str, bytes]:
    """Translation units of the folder itself, and the headers in it and below it."""
    files: Dict[str, bytes] = {}
    total = 0
    for path, relative in _needed(root):
        content = _read(str(path), _LARGEST_FILE)
        total += len(content)
        if total > _LARGEST_TREE or len(files) >= _MOST_FILES:
            raise AutofuseError("holds too much to compile", str(root), "at most 5000 files and 1 GiB")
        files[relative] = content
    return files


def _needed(root: Path) -> Iterator[Tuple[Path, str]]:
    for folder, subfolders, names in os.walk(root):
        depth = len(Path(folder).relative_to(root).parts)
        subfolders[:] = sorted(name for name in subfolders if depth < _DEEPEST and not name.startswith("."))
        if "CMakeLists.txt" in names and is_kept_build(Path(folder, "CMakeLists.txt")):
            subfolders[:] = []
            continue
        for name in sorted(names):
            if name.endswith(_HEADERS) or (depth == 0 and _is_unit(name)):
                path = Path(folder, name)
                if _is_regular(path):
                    yield path, path.relative_to(root).as_posix()


def is_kept_build(path: Path) -> bool:
    """Whether an earlier run with --keep-build wrote it; its copies of the headers are none of the sources."""
    try:
        with open(path, "rb") as file:
            return file.read(len(KEPT_BUILD) + 1).startswith(KEPT_BUILD.encode())
    except OSError:
        return False


def _is_regular(path: Path) -> bool:
    # A named pipe would hang the reader, a device would never end.
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def _read(path: str, limit: int) -> bytes:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise AutofuseError("is no regular file", path)
        with open(path, "rb") as file:
            content = file.read(limit + 1)
    except OSError as error:
        raise AutofuseError(f"cannot read: {error.strerror or error}", path) from None
    if len(content) > limit:
        raise AutofuseError(f"is larger than {limit >> 20} MiB", path, "no generated source is")
    return content
