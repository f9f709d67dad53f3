"""The documentation, executed: every `console` and `python` block of the READMEs and of docs/ does what it shows.

A page runs in a folder of its own that holds a copy of examples/, its blocks in order. In a `console` block a line that
begins with `$ ` is a command, which ends with exit code 0, or with that of a comment `# exit 1` (`# exit any`) at its
end; every line shown below it occurs in its output, where `…` stands for anything. A block of any language with
`file=NAME` after it is written to that file. Blocks of other languages are not executed.
"""

from __future__ import annotations

import os
import re
import shutil
import site
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, Iterator, List

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "README_zh.md", *sorted(ROOT.glob("docs/**/*.md"))]
_FENCE = re.compile(r"^( *)```(\S*)([^\n]*)\n(.*?)^\1```\s*$", re.MULTILINE | re.DOTALL)
_EXIT = re.compile(r"\s+# exit (\d+|any)$")
_FILE = re.compile(r"\bfile=(\S+)")
_LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    line: int
    language: str
    remark: str
    text: str


@dataclass
class Command:
    """One command of a console block."""

    text: str
    expected_exit: str = "0"
    shown: List[str] = field(default_factory=list)


def blocks(page: Path) -> Iterator[Block]:
    """All fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    for match in _FENCE.finditer(text):
        indent = match[1]
        lines = [line[len(indent) :] if line.startswith(indent) else line for line in match[4].splitlines()]
        yield Block(text.count("\n", 0, match.start()) + 1, match[2], match[3], "\n".join(lines) + "\n")


def commands(block: Block) -> List[Command]:
    """The commands of a console block with what is shown below each."""
    found: List[Command] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            marked = _EXIT.search(line)
            found.append(Command(_EXIT.sub("", line)[2:], marked[1] if marked else "0"))
        elif found and found[-1].text.endswith("\\"):
            found[-1].text += "\n" + _EXIT.sub("", line)
            marked = _EXIT.search(line)
            found[-1].expected_exit = marked[1] if marked else "0"
        elif found and line.strip():
            found[-1].shown.append(line.strip())
    return found


def occurs(shown: str, output: str) -> bool:
    """Whether a line of the output holds what is shown; `…` stands for anything."""
    pattern = re.compile(".*".join(map(re.escape, shown.split("…"))))
    return any(pattern.search(line) for line in output.splitlines())


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with python, pip and autofuse of an environment on top of this one: a page may install a plugin."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    below = [path for path in [*site.getsitepackages(), *sys.path] if path.endswith("-packages")]
    lines = [f"import site; site.addsitedir({path!r})" for path in dict.fromkeys(below)]
    (packages / "below.pth").write_text("\n".join(lines) + "\n")
    for name, module in (("autofuse", "autofuse"), ("pip", "pip")):
        script = folder / "bin" / name
        script.write_text(f'#!/bin/sh\nexec "{python}" -m {module} "$@"\n')
        script.chmod(0o755)
    return folder / "bin"


@pytest.fixture
def environment(programs: Path, tmp_path: Path) -> Dict[str, str]:
    """Neither the settings of the user nor the network: what pip builds with is installed already."""
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "CC", "CXX") if name in os.environ}
    return {
        **kept,
        "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "HOME": str(tmp_path / "home"),
        "TMPDIR": str(tmp_path),
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip's own way of saying that there is none
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
        "PIP_QUIET": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page: Path, environment: Dict[str, str], programs: Path, tmp_path: Path) -> None:
    found = list(blocks(page))
    if not any(block.language in ("console", "python") for block in found):
        return
    work = tmp_path / "work"
    work.mkdir()
    shutil.copytree(ROOT / "examples", work / "examples", symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for block in found:
        where = f"{page.relative_to(ROOT)}:{block.line}"
        named = _FILE.search(block.remark)
        if named:
            path = work / named[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        if block.language == "console":
            assert commands(block), f"{where}: a console block without a command"
            for command in commands(block):
                _run(command, where, work, environment)
        elif block.language == "python":
            done = subprocess.run(
                [str(programs / "python"), "-c", block.text],
                cwd=work,
                env=environment,
                capture_output=True,
                text=True,
                timeout=300,
            )
            assert done.returncode == 0, f"{where}: {done.stderr}"


def _run(command: Command, where: str, work: Path, environment: Dict[str, str]) -> None:
    done = subprocess.run(
        ["bash", "-c", command.text],
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=600,
    )
    output = done.stdout.decode("utf-8", "replace")
    told = f"{where}: $ {command.text}\n{output}"
    assert command.expected_exit in ("any", str(done.returncode)), f"exit code {done.returncode}\n{told}"
    for shown in command.shown:
        assert occurs(shown, output), f"not shown: {shown!r}\n{told}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page: Path) -> None:
    """What a page links to in the repository is there."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    gone = [
        target
        for target in _LINK.findall(text)
        if not re.match(r"[a-z]+:", target) and not (page.parent / target).exists()
    ]
    assert gone == []


def test_every_page_is_in_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / target).resolve() for target in _LINK.findall(index.read_text(encoding="utf-8"))}
    missing = [page for page in ROOT.glob("docs/**/*.md") if page != index and page.resolve() not in linked]
    assert missing == []


def test_what_this_file_understands() -> None:
    block = Block(1, "console", "", "$ echo a \\\n  b # exit 1\nshown … here\n\n$ true\n")
    first, second = commands(block)
    assert (first.text, first.expected_exit, first.shown) == ("echo a \\\n  b", "1", ["shown … here"])
    assert (second.text, second.expected_exit, second.shown) == ("true", "0", [])
    assert occurs("shown … here", "x\nis shown in here\n")
    assert not occurs("shown", "x\n")
