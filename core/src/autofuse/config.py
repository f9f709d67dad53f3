"""The config file: TOML, read once per run, every key checked.

Looked for in `--config`, then `AUTOFUSE_CONFIG`, then `$XDG_CONFIG_HOME/autofuse/config.toml` (`~/.config` by default).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping, Optional, Tuple

from autofuse.errors import AutofuseError

__all__ = ["Config", "load_config"]


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
    if path is None:
        default = _default_path()
        return _read(default) if default.is_file() else Config()
    return _read(Path(path))


def _default_path() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(base, "autofuse", "config.toml")


def _read(path: Path) -> Config:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "is no UTF-8 text"
        raise AutofuseError(f"cannot read the config file: {reason}", str(path), "see --config") from error
    return _Checked(_parse(text, path), path).config()


def _parse(text: str, path: Path) -> Mapping[str, Any]:
    try:
        import tomllib
    except ModuleNotFoundError:
        import tomli as tomllib
    try:
        data: Mapping[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise AutofuseError(f"is no valid TOML: {error}", str(path)) from error
    return data


class _Checked:
    """Takes known keys out of the parsed file and rejects what is left."""

    def __init__(self, data: Mapping[str, Any], path: Path) -> None:
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
        base = self.path.parent
        return Config(
            lang=lang,
            disabled=self._strings(plugins.get("disable", []), "plugins.disable"),
            preferred=self._mapping(plugins.get("prefer", {}), "plugins.prefer"),
            format_folders=tuple(
                str(base / folder) for folder in self._strings(formats.get("folders", []), "formats.folders")
            ),
            path=str(self.path),
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
                    str(self.path),
                    "known: " + ", ".join(sorted(prefix + k for k in known)),
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
        return AutofuseError(f"{key} must be {expected}", str(self.path))
