"""Where format files are found, and which plugin each belongs to; `autofuse.declarative` reads them.

A file beside the module of a plugin, or in the folder `formats` there, is that plugin's. A file in a folder of the
config, or in `formats` of the user's config folder, is like a plugin of its own.
"""

from __future__ import annotations

import os
from typing import Any, Iterable, List

from autofuse.config import Config, config_folder
from autofuse.errors import AutofuseError
from autofuse.plugin import Plugin

__all__ = ["SUFFIX", "beside_module", "file_plugin", "folder_plugins", "read_formats"]

SUFFIX = ".format.toml"


def beside_module(module: Any) -> List[str]:
    """The format files that come with a plugin's module.

    A module that is no part of a package has `MODULE.format.toml` only: its folder holds other people's files too.
    """
    path = getattr(module, "__file__", None)
    if not isinstance(path, str):
        return []
    folder = os.path.dirname(path)
    if getattr(module, "__package__", None):
        return _files(folder) + _files(os.path.join(folder, "formats"))
    own = os.path.splitext(path)[0] + SUFFIX
    return [own] if os.path.isfile(own) else []


def folder_plugins(config: Config) -> List[Plugin]:
    """One plugin per format file of the folders; a folder of the config that is not there is a broken one."""
    own = os.path.join(config_folder(), "formats")
    found: List[Plugin] = []
    seen = set()
    for folder in (*config.format_folders, own):
        if folder != own and not os.path.isdir(folder):
            found.append(Plugin(os.path.basename(folder), "format folder", "", folder, ["there is no such folder"]))
        for path in _files(folder):
            if os.path.realpath(path) not in seen:
                seen.add(os.path.realpath(path))
                found.append(file_plugin(path))
    return found


def file_plugin(path: str) -> Plugin:
    """A format file as a plugin of its own."""
    return Plugin(os.path.basename(path)[: -len(SUFFIX)], "format file", "", path)


def read_formats(plugin: Plugin, paths: Iterable[str]) -> None:
    """Adds the spec of each file to the plugin; a file that is wrong is a cause for it to be broken."""
    for path in paths:
        from autofuse.declarative import read_format

        try:
            spec = read_format(path)
        except AutofuseError as error:
            plugin.fail(str(error))
        else:
            plugin.specs.setdefault("autofuse_record_parsers", []).append(spec)


def _files(folder: str) -> List[str]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(SUFFIX) and name != SUFFIX)
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names]
