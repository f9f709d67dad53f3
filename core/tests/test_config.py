"""The config file: where it is looked for, what it may say, and one line for everything else."""

from __future__ import annotations

import os

import pytest
from autofuse.config import Config, load_config
from autofuse.errors import AutofuseError


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A user without any settings."""
    for variable in ("AUTOFUSE_CONFIG", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def write(path, text):
    """A file and its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def test_no_config(home):
    assert load_config() == Config()


def test_everything(home):
    text = """
    lang = "zh"
    [plugins]
    disable = ["acme"]
    prefer = { excel = "acme-sheets", ".tsv" = "other" }
    [formats]
    folders = ["formats", "/abs", "~/mine"]
    """
    path = write(home / "etc" / "my.toml", text)
    assert load_config(path) == Config(
        lang="zh",
        disabled=("acme",),
        preferred={"excel": "acme-sheets", ".tsv": "other"},
        format_folders=(str(home / "etc" / "formats"), "/abs", str(home / "mine")),
        path=path,
    )


def test_order_of_places(home, monkeypatch):
    write(home / ".config" / "autofuse" / "config.toml", 'lang = "en"')
    assert load_config().lang == "en"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "xdg"))
    assert load_config().lang is None
    write(home / "xdg" / "autofuse" / "config.toml", 'lang = "zh"')
    assert load_config().lang == "zh"
    monkeypatch.setenv("AUTOFUSE_CONFIG", write(home / "own.toml", "[plugins]"))
    assert load_config().path == str(home / "own.toml")
    assert load_config(write(home / "explicit.toml", "")).path == str(home / "explicit.toml")
    monkeypatch.setenv("AUTOFUSE_CONFIG", "")
    assert load_config().lang == "zh"


def test_byte_order_mark(home):
    assert load_config(write(home / "a.toml", b'\xef\xbb\xbflang = "en"\r\n')).lang == "en"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lang = ", "is no valid TOML"),
        ("lang = 3", 'lang must be "en" or "zh"'),
        ('lang = "fr"', 'lang must be "en" or "zh"'),
        ("colour = 1", "unknown key colour (known: formats, lang, plugins)"),
        ("plugins = 1", "plugins must be a table"),
        ("[plugins]\ndisable = 'a'", "plugins.disable must be a list of strings"),
        ("[plugins]\ndisable = [1]", "plugins.disable must be a list of strings"),
        ("[plugins]\nprefer = ['a']", 'plugins.prefer must be a table of NAME = "distribution"'),
        ("[plugins]\ndisabel = []", "unknown key plugins.disabel"),
        ("[formats]\nfolders = 'x'", "formats.folders must be a list of strings"),
        (b"lang = '\xff'", "cannot be read: it is no UTF-8 text"),
        (b"\x00", "is no valid TOML"),
        ("a = " + "[" * 5000, "TOML"),
    ],
)
def test_wrong_config(text, message, home, autofuse_cli):
    path = write(home / "a.toml", text)
    with pytest.raises(AutofuseError) as caught:
        load_config(path)
    assert message in str(caught.value)
    result = autofuse_cli("--config", path, "plugins", "list")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith(f"autofuse: {path}: ")


def test_missing_and_folder(home, autofuse_cli):
    assert "cannot be read: No such file" in autofuse_cli("--config", home / "no.toml", "doctor").stderr
    assert "cannot be read: Is a directory" in autofuse_cli("--config", home, "doctor").stderr


def test_help_needs_no_config(home, autofuse_cli):
    assert autofuse_cli("--config", home / "no.toml", "--help").exit_code == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable(home):
    path = home / "a.toml"
    path.write_text("")
    path.chmod(0)
    with pytest.raises(AutofuseError, match="Permission denied"):
        load_config(str(path))
