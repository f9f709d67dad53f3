"""What the generated code is compiled against: a CANN installation, or the four small headers shipped here.

A toolkit is a set of paths, definitions and libraries; building with it is left to `build`.
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Tuple

from autofuse.errors import AutofuseError

__all__ = ["CHOICES", "Toolkit", "choose_toolkit"]

CHOICES = ("auto", "cann", "shim")
_HOME = "ASCEND_HOME_PATH"
_LIBRARIES = ("c_sec", "ascendalog", "platform", "error_manager", "tiling_api", "graph_base", "register")


@dataclass(frozen=True)
class Toolkit:
    """Where headers and libraries come from."""

    name: str
    """`cann` or `shim`."""
    why: str
    """Why it was chosen, for the user."""
    home: Optional[str]
    includes: Tuple[str, ...]
    definitions: Tuple[str, ...] = ()
    library_folders: Tuple[str, ...] = ()
    libraries: Tuple[str, ...] = ()


def choose_toolkit(wanted: str) -> Toolkit:
    """`cann` when ASCEND_HOME_PATH is a folder and shim was not asked for, else `shim`; AutofuseError without CANN."""
    home = os.environ.get(_HOME, "")
    present = bool(home) and os.path.isdir(home)
    if wanted == "shim" or (wanted == "auto" and not present):
        absent = f"{_HOME} is no folder" if home else f"{_HOME} is not set"
        return _shim("--toolkit shim" if wanted == "shim" else absent)
    if not present:
        problem = f"{_HOME} is no folder: {home}" if home else f"{_HOME} is not set"
        raise AutofuseError(f"no CANN toolkit: {problem}", hint="source its set_env.sh, or use --toolkit shim")
    return _cann(os.path.abspath(home), "--toolkit cann" if wanted == "cann" else f"{_HOME} is a folder")


def _shim(why: str) -> Toolkit:
    folder = Path(__file__).with_name("shim")
    # Without exe_graph and platform headers the code compiles as it does in its own kernel tests.
    return Toolkit("shim", why, None, (str(folder),), ("__CCE_KT_TEST__=1",))


def _cann(home: str, why: str) -> Toolkit:
    if ";" in home:
        raise AutofuseError("CMake takes no path with a semicolon", home, "give the toolkit another name or a link")
    machine = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
    roots = [home, os.path.join(home, f"{machine}-linux")]
    includes = [path for root in roots for path in (os.path.join(root, "include"),) if os.path.isdir(path)]
    folders = [
        path
        for root in roots
        for name in ("lib64", "devlib", "lib")
        for path in (os.path.join(root, name),)
        if os.path.isdir(path)
    ]
    if not includes:
        raise AutofuseError(
            "has no include folder", home, "ASCEND_HOME_PATH names the toolkit, such as …/ascend-toolkit/latest"
        )
    return Toolkit("cann", why, home, tuple(includes), (), tuple(dict.fromkeys(folders)), _LIBRARIES)
