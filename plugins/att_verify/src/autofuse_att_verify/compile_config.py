"""The compile config: flags, include folders and link words of the user's own, from a TOML file.

How they stand in a build is left to `build`; this module knows what each link word means to the linker and the loader.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Tuple

from autofuse.errors import AutofuseError

__all__ = ["CompileConfig", "LinkWords", "link_words", "load_config"]

_DEFAULT = "~/.att_analyze/compile.toml"
_KEYS = ("flags", "extra_includes", "extra_links")
_LIBRARY_FILE = re.compile(r".*\.(?:a|so(?:\.\d+)*)")
_LARGEST = 1 << 20


@dataclass(frozen=True)
class CompileConfig:
    """The `[compile]` table of a compile config file."""

    flags: Tuple[str, ...] = ()
    extra_includes: Tuple[str, ...] = ()
    extra_links: Tuple[str, ...] = ()
    path: Optional[str] = None


@dataclass(frozen=True)
class LinkWords:
    """`extra_links` taken apart."""

    items: Tuple[str, ...]
    """What CMake is given to link, in order; options are quoted for the shell."""
    folders: Tuple[str, ...]
    """Where libraries are looked for, when linking and when loading."""


def load_config(path: Optional[str]) -> CompileConfig:
    """The compile config in `path`, else ~/.att_analyze/compile.toml when that exists; AutofuseError on a mistake."""
    name = os.path.expanduser(_DEFAULT) if path is None else path
    if path is None and not os.path.isfile(name):
        return CompileConfig()
    try:
        import tomllib
    except ImportError:  # Python 3.9 and 3.10
        import tomli as tomllib
    try:
        with open(name, "rb") as file:
            text = file.read(_LARGEST + 1)
        if len(text) > _LARGEST:
            raise AutofuseError("is too large for a compile config", name, "at most 1 MiB")
        content = tomllib.loads(text.decode("utf-8-sig"))
    except OSError as error:
        raise AutofuseError(f"cannot read the compile config: {error.strerror or error}", name) from None
    except (ValueError, RecursionError) as error:
        raise AutofuseError(f"is no TOML: {error}", name) from None
    return _config(content, name)


def link_words(words: Tuple[str, ...]) -> LinkWords:
    """What `extra_links` stands for: options, paths of libraries and bare names."""
    items: List[str] = []
    folders: List[str] = []
    for word in _joined(words):
        if word.startswith("-L"):
            folders.append(os.path.abspath(word[2:]))
        elif word.startswith("-"):
            items.append("-" + shlex.quote(word[1:]))
        elif os.path.isfile(word) and _LIBRARY_FILE.fullmatch(os.path.basename(word)):
            # By its folder and exact name: CMake would make -lx of a path to x.so, and the loader must find it too.
            folders.append(os.path.dirname(os.path.abspath(word)))
            items.append("-l" + shlex.quote(f":{os.path.basename(word)}"))
        else:
            items.append(os.path.abspath(word) if os.path.exists(word) else word)
    return LinkWords(tuple(items), tuple(dict.fromkeys(folders)))


def _joined(words: Tuple[str, ...]) -> Iterator[str]:
    """`-L`, `folder` is `-Lfolder`, and so is `-l`."""
    waiting = iter(words)
    for word in waiting:
        yield word + next(waiting, "") if word in ("-L", "-l") else word


def _config(content: Dict[str, Any], name: str) -> CompileConfig:
    for key in content:
        if key != "compile":
            raise AutofuseError(f"unknown table or key {key!r}", name, "accepted: [compile]")
    table = content.get("compile", {})
    if not isinstance(table, dict):
        raise AutofuseError("compile is no table", name, "accepted: [compile] flags, extra_includes, extra_links")
    values: Dict[str, Tuple[str, ...]] = {}
    for key, value in table.items():
        if key not in _KEYS:
            raise AutofuseError(f"unknown key {key!r} in [compile]", name, f"accepted: {', '.join(_KEYS)}")
        words = _split(value) if isinstance(value, str) else value
        if not isinstance(words, list) or not all(isinstance(word, str) and _is_plain(word) for word in words):
            raise AutofuseError(f"{key} is no list of strings", name, "without line breaks and semicolons")
        values[key] = tuple(words)
    return CompileConfig(**values, path=name)


def _split(text: str) -> Optional[List[str]]:
    try:
        return shlex.split(text)
    except ValueError:
        return None


def _is_plain(word: str) -> bool:
    # A semicolon separates the items of every list in CMake, however it is quoted.
    return bool(word) and not set(word) & {"\n", "\r", "\0", ";"}
