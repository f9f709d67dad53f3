"""Finds the entry points of the group `autofuse` of every installed distribution, quickly and whatever their metadata.

`importlib.metadata` parses e-mail headers and costs more than the rest of the start together; here only the file
`entry_points.txt` of each distribution is read. What they name is imported by `autofuse.host`.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

__all__ = ["GROUP", "EntryPoint", "canonical", "entry_points"]

GROUP = "autofuse"


class EntryPoint(NamedTuple):
    """One line `name = value` of the group, and the distribution that has it."""

    name: str
    value: str
    """`package.module` or `package.module:object`."""
    distribution: str
    """Canonical name: lower case, words joined by `-`."""
    version: str
    cause: Optional[str] = None
    """Why it cannot be used, when the metadata already tells."""


def entry_points(paths: Optional[List[str]] = None) -> Iterator[EntryPoint]:
    """The entry points of all distributions on `paths` (sys.path by default).

    Of two distributions with one name the first on the path counts, as it is the one that imports find.
    """
    seen: Set[str] = set()
    for place in [path for path in (sys.path if paths is None else paths) if isinstance(path, str)]:
        for folder in _metadata_folders(place or os.curdir):
            if _is_new(seen, _split(folder)[0]):
                yield from _of_folder(folder)
        if os.path.isfile(place) or place.endswith(".egg"):
            yield from _of_finder(seen, path=[place])
    if paths is None:
        for finder in sys.meta_path:
            if _finds_more(finder):
                yield from _of_finder(seen, finder=finder)


def canonical(name: str) -> str:
    """The name of a distribution as the packaging standards compare it: `Autofuse_Formats` is `autofuse-formats`."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _is_new(seen: Set[str], name: str) -> bool:
    known = canonical(name) in seen
    seen.add(canonical(name))
    return not known


def _metadata_folders(place: str) -> List[str]:
    try:
        with os.scandir(place) as entries:
            # A leading ~ is what pip leaves behind when an uninstallation was interrupted.
            names = [entry.name for entry in entries if entry.name.endswith((".dist-info", ".egg-info"))]
    except OSError:
        return []
    return [os.path.join(place, name) for name in sorted(names) if not name.startswith("~")]


def _split(folder: str) -> Tuple[str, str]:
    """Name and version in the folder's own name, `name-version.dist-info`; the version may be absent."""
    parts = os.path.basename(folder).rpartition(".")[0].split("-")
    return parts[0], parts[1] if len(parts) > 1 else ""


def _of_folder(folder: str) -> Iterator[EntryPoint]:
    try:
        with open(os.path.join(folder, "entry_points.txt"), "rb") as file:
            content = file.read()
    except OSError:
        return
    if b"autofuse" not in content:
        return
    lines = list(_group_lines(content.decode("utf-8", "replace")))
    if lines:
        name, version = _name_and_version(folder)
        for line in lines:
            yield _parse(line, name, version)


def _group_lines(text: str) -> Iterator[str]:
    inside = False
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith("[") and line.endswith("]"):
            inside = line[1:-1].strip() == GROUP
        elif inside and line and line[0] not in "#;":
            yield line


def _parse(line: str, distribution: str, version: str) -> EntryPoint:
    name, _, value = (part.strip() for part in line.partition("="))
    # `module:object [extra]`: the extras belong to an old form and mean nothing here.
    value = value.partition("[")[0].strip()
    if not re.fullmatch(r"[\w.]+(:[\w.]+)?", value) or not name:
        return EntryPoint(name or line, value, distribution, version, f"malformed entry point {line!r}")
    return EntryPoint(name, value, distribution, version)


def _name_and_version(folder: str) -> Tuple[str, str]:
    fields: Dict[str, str] = {}
    for file_name in ("METADATA", "PKG-INFO"):
        try:
            with open(os.path.join(folder, file_name), encoding="utf-8", errors="replace") as file:
                for line in file:
                    key, _, value = line.partition(":")
                    if not line.strip() or {"name", "version"} <= fields.keys():
                        break
                    fields.setdefault(key.strip().lower(), value.strip())
        except OSError:
            continue
        break
    name, version = _split(folder)
    return canonical(fields.get("name") or name or "unknown"), fields.get("version") or version or "unknown"


def _finds_more(finder: object) -> bool:
    """Whether an import hook has distributions of its own, beside those on sys.path (frozen and zipped programs)."""
    if not hasattr(finder, "find_distributions"):
        return False
    owner = getattr(finder, "__module__", None) or type(finder).__module__
    return not owner.startswith("_frozen_importlib") and "importlib_metadata" not in owner


def _of_finder(seen: Set[str], finder: Any = None, path: Optional[List[str]] = None) -> Iterator[EntryPoint]:
    from importlib import metadata

    try:
        found = finder.find_distributions() if finder else metadata.distributions(path=path or [])
        texts = [(one.metadata["Name"] or "unknown", one.version, one.read_text("entry_points.txt")) for one in found]
    except Exception:
        # Metadata of others that cannot be read is no reason to stop; a plugin in there is not found.
        return
    for name, version, text in texts:
        if _is_new(seen, name):
            for line in _group_lines(text or ""):
                yield _parse(line, canonical(name), version or "unknown")
