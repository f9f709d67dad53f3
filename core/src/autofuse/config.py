"""The config file: TOML, read once per run, every key checked.

Looked for in `--config`, then `AUTOFUSE_CONFIG`, then `$XDG_CONFIG_HOME/autofuse/config.toml` (`~/.config` by default).
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from typing import Any, Mapping, Optional, Tuple

from autofuse.errors import AutofuseError

__all__ = ["Config", "config_folder", "load_config", "read_toml"]


@dataclass(frozen=True)
class Config:
    """What the config file may say."""

    lang: Optional[str] = None
    """`lang = "en"` or `"zh"`."""
    disabled: Tuple[str, ...] = ()
    """`[plugins] disable = ["name", …]`: plugins (or distributions) that are not loaded."""
    preferred: Mapping[str, str] = field(default_factory=dict)
    """`[plugins.prefer]` NAME = "distribution": whose spec wins when two plugins give the same name."""
    format_folders: Tuple[str, ...] = ()
    """`[formats] folders = ["dir", …]`: where `NAME.format.toml` files are found, relative to the config file."""
    path: Optional[str] = None


def load_config(explicit: Optional[str] = None) -> Config:
    """Reads the config; an explicitly named file must exist, the default one need not."""
    path = explicit or os.environ.get("AUTOFUSE_CONFIG")
    if path:
        return _Checked(read_toml(path), path).config()
    default = os.path.join(config_folder(), "config.toml")
    return _Checked(read_toml(default), default).config() if os.path.exists(default) else Config()


def config_folder() -> str:
    """Where the user's config file and format files are: `$XDG_CONFIG_HOME/autofuse`."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "autofuse")


def read_toml(path: str) -> Mapping[str, Any]:
    """The content of a TOML file; AutofuseError when it cannot be read or is none."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise AutofuseError(f"cannot be read: {reason}", path) from error
    try:
        content: Mapping[str, Any] = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise AutofuseError(f"is no valid TOML: {error}", path) from error
    return content


class _Checked:
    """Takes known keys out of the parsed file and rejects what is left."""

    def __init__(self, data: Mapping[str, Any], path: str) -> None:
        self.data = data
        self.path = path

    def config(self) -> Config:
        self._only(self.data, {"lang", "plugins", "formats"}, "")
        plugins = self._table("plugins")
        formats = self._table("formats")
        self._only(plugins, {"disable", "prefer"}, "plugins.")
        self._only(formats, {"folders"}, "formats.")
        lang = self.data.get("lang")
        if lang not in (None, "en", "zh"):
            raise self._error("lang", '"en" or "zh"')
        folders = self._strings(formats.get("folders", []), "formats.folders")
        base = os.path.dirname(self.path)
        return Config(
            lang=lang,
            disabled=self._strings(plugins.get("disable", []), "plugins.disable"),
            preferred=self._mapping(plugins.get("prefer", {}), "plugins.prefer"),
            format_folders=tuple(os.path.join(base, os.path.expanduser(folder)) for folder in folders),
            path=self.path,
        )

    def _table(self, key: str) -> Mapping[str, Any]:
        value = self.data.get(key, {})
        if not isinstance(value, dict):
            raise self._error(key, "a table")
        return value

    def _only(self, table: Mapping[str, Any], known: set[str], prefix: str) -> None:
        for key in table:
            if key not in known:
                raise AutofuseError(
                    f"unknown key {prefix}{key}",
                    self.path,
                    "known: " + ", ".join(sorted(prefix + key for key in known)),
                )

    def _strings(self, value: Any, key: str) -> Tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._error(key, "a list of strings")
        return tuple(value)

    def _mapping(self, value: Any, key: str) -> Mapping[str, str]:
        if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
            raise self._error(key, 'a table of NAME = "distribution"')
        return dict(value)

    def _error(self, key: str, expected: str) -> AutofuseError:
        return AutofuseError(f"{key} must be {expected}", self.path)
