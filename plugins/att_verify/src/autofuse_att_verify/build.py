"""From sources to a shared library: a private folder, a generated CMakeLists.txt, CMake with the generator at hand.

Translation units are compiled in parallel and linked once. What the library does is left to the runner.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterable, List, Sequence, Tuple

from autofuse.names import safe_name

from autofuse_att_verify.compile_config import CompileConfig, link_words
from autofuse_att_verify.diagnostics import Diagnostic, first_error
from autofuse_att_verify.processes import Finished, run_tool
from autofuse_att_verify.scene import KEPT_BUILD, MODULE, Sources
from autofuse_att_verify.toolkits import Toolkit

__all__ = ["BuildFailed", "Built", "build"]

_TIMEOUT = 900.0
_LIBRARY = "autofuse_tiling"
_PLAIN = re.compile(r"[A-Za-z0-9_.+-]+")
_LONGEST_NAME = 200
_LIBRARY_STRUCT = re.compile(
    r"'\w*Tiling' (?:does not name a type|was not declared)|unknown type name '\w*Tiling'|"
    r"'\w*Tiling' in namespace 'AscendC'"
)
_MOST_OUTPUT = 64 << 10


@dataclass(frozen=True)
class Built:
    """A finished library and how it came about."""

    library: Path
    source_folder: Path
    """The copy of the sources that was compiled."""
    compiler: Dict[str, Any]
    """`version`, `flags`, `links`, `seconds`, `generator`, as result.json shows them."""
    command: Tuple[str, ...]
    """The compiler and the options that every translation unit got."""


class BuildFailed(Exception):
    """The sources did not become a library; the cause is `diagnostic`, the whole output is kept."""

    def __init__(self, diagnostic: Diagnostic, output: str, compiler: Dict[str, Any]) -> None:
        super().__init__(str(diagnostic))
        self.diagnostic = diagnostic
        self.output = output[:_MOST_OUTPUT]
        self.compiler = compiler


def build(sources: Sources, toolkit: Toolkit, config: CompileConfig, folder: Path, optimise: bool) -> Built:
    """Compiles and links `sources` in `folder`; BuildFailed says why it could not."""
    compiler: Dict[str, Any] = {"version": None, "flags": [], "links": [], "seconds": None, "generator": None}
    program = _compiler(compiler)
    tree = _Tree(folder, sources)
    options = _options(toolkit, config, tree.source_folder, optimise)
    compiler["flags"] = options
    compiler["links"] = [*(f"-l{name}" for name in toolkit.libraries), *config.extra_links]
    _write_cmake(tree, toolkit, config, options, folder)
    generator, jobs = _generator(compiler), os.cpu_count() or 1
    compiler["generator"] = generator
    environment = _environment(program, folder)
    configure = ["cmake", "-S", str(folder), "-B", str(folder / "build"), "-G", generator, "-DCMAKE_BUILD_TYPE=None"]
    # The compiler is known to work: its own questions take longer than a small operator.
    configure += ["-DCMAKE_CXX_COMPILER_WORKS=1", "-DCMAKE_CXX_ABI_COMPILED=1", "--no-warn-unused-cli"]
    first = run_tool(configure, folder, _TIMEOUT, environment)
    _check(first, tree, sources, toolkit, compiler)
    second = run_tool(
        ["cmake", "--build", str(folder / "build"), "--parallel", str(jobs)], folder, _TIMEOUT, environment
    )
    compiler["seconds"] = round(first.seconds + second.seconds, 3)
    _check(second, tree, sources, toolkit, compiler)
    library = folder / "build" / f"lib{_LIBRARY}.so"
    if not library.is_file():
        raise BuildFailed(Diagnostic("the build ended well but left no library"), second.output, compiler)
    return Built(library, tree.source_folder, compiler, (*program, *options))


def _environment(program: Sequence[str], folder: Path) -> Dict[str, str]:
    """What the build tools see: one language, and a place of their own for what a killed compiler leaves."""
    temporary = folder / "build" / "tmp"
    temporary.mkdir(parents=True)
    # CMake takes the whole for a program's name when there is one of it, and quotes apart otherwise.
    first = f'"{program[0]}"' if len(program) > 1 else program[0]
    own = {"CXX": " ".join([first, *program[1:]]), "LC_ALL": "C", "CLICOLOR_FORCE": "0", "TMPDIR": str(temporary)}
    return {**os.environ, **own}


class _Tree:
    """The copy of the sources in the private folder; file names that build tools might trip over are replaced."""

    def __init__(self, folder: Path, sources: Sources) -> None:
        self.source_folder = folder / "src"
        self.units: List[str] = []
        self.original: Dict[str, str] = {}
        """Name in the copy → name in SOURCE_DIR."""
        for name, content in sources.files.items():
            # The object file's name is a little longer, and file systems take 255 bytes.
            plain = not name.endswith(".cpp") or (_PLAIN.fullmatch(name) and len(name) <= _LONGEST_NAME)
            copied = name if plain else self._renamed(name)
            path = self.source_folder / copied
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            self.original[copied] = name
            if name.endswith(".cpp"):
                self.units.append(copied)

    @staticmethod
    def _renamed(name: str) -> str:
        return safe_name(name[: -len(".cpp")]) + ".cpp"

    def in_sources(self, text: str, sources: Sources) -> str:
        """Messages about the copy, told as messages about SOURCE_DIR."""
        for copied in sorted(self.original, key=len, reverse=True):  # `op.hpp` before `op.h`
            text = text.replace(str(self.source_folder / copied), _place(sources, self.original[copied]))
        return text.replace(str(self.source_folder), sources.folder).replace(str(self.source_folder.parent), "<build>")


def _place(sources: Sources, name: str) -> str:
    """Where the user finds the file; a section of an inductor module has no file of its own."""
    return os.path.join(sources.folder, f"{MODULE}[{name}]" if sources.graph else name)


def _compiler(compiler: Dict[str, Any]) -> List[str]:
    """The C++ compiler that CMake will use, with the words that CXX adds; its version goes into `compiler`."""
    try:
        wanted = shlex.split(os.environ.get("CXX", ""))
    except ValueError as error:
        raise _missing(f"no C++ compiler: CXX={os.environ['CXX']} cannot be read: {error}", compiler) from None
    candidates = wanted[:1] or ["c++", "g++", "clang++"]
    program = next((path for path in map(shutil.which, candidates) if path), None)
    if program is None:
        named = f"CXX={candidates[0]} is not found" if wanted else "no c++, g++ or clang++ on PATH"
        raise _missing(f"no C++ compiler: {named}; install g++ or clang++, or set CXX", compiler)
    if shutil.which("cmake") is None:
        raise _missing(
            "no CMake on PATH; install it (package cmake of the system, or `pip install cmake ninja`)", compiler
        )
    try:
        command = [program, *wanted[1:], "--version"]
        answer = subprocess.run(command, capture_output=True, timeout=30, check=False, stdin=subprocess.DEVNULL)
        compiler["version"] = answer.stdout.decode("utf-8", "replace").partition("\n")[0].strip() or None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _missing(f"the C++ compiler {program} cannot be run: {error}", compiler) from None
    return [program, *wanted[1:]]


def _missing(text: str, compiler: Dict[str, Any]) -> BuildFailed:
    return BuildFailed(Diagnostic(text), "", compiler)


def _generator(compiler: Dict[str, Any]) -> str:
    if shutil.which("ninja"):
        return "Ninja"
    if shutil.which("make") or shutil.which("gmake"):
        return "Unix Makefiles"
    raise _missing("CMake has neither ninja nor make to work with; install one of them", compiler)


def _options(toolkit: Toolkit, config: CompileConfig, source_folder: Path, optimise: bool) -> List[str]:
    includes = [str(source_folder), *toolkit.includes, *map(os.path.abspath, config.extra_includes)]
    return [
        "-std=gnu++17",
        "-O2" if optimise else "-O1",
        "-fPIC",
        # The formulas must give the doubles of plain IEEE arithmetic on every machine; aarch64 fuses otherwise.
        "-ffp-contract=off",
        "-w",
        *(f"-D{definition}" for definition in toolkit.definitions),
        *(f"-I{path}" for path in includes),
        *config.flags,
    ]


def _write_cmake(tree: _Tree, toolkit: Toolkit, config: CompileConfig, options: Sequence[str], folder: Path) -> None:
    # The sources are named relative to this file, so that a build that was kept can be built again.
    compile_options = [word for word in options if word != f"-I{tree.source_folder}"]
    own = link_words(config.extra_links)
    folders = (*toolkit.library_folders, *own.folders)
    lines = [
        KEPT_BUILD,
        "cmake_minimum_required(VERSION 3.16)",
        "project(autofuse_verify LANGUAGES CXX)",
        f"add_library({_LIBRARY} SHARED {_words(f'src/{unit}' for unit in tree.units)})",
        f"target_include_directories({_LIBRARY} BEFORE PRIVATE src)",
        f"target_compile_options({_LIBRARY} PRIVATE {_quoted(_grouped(compile_options))})",
    ]
    if folders:
        lines.append(f"target_link_directories({_LIBRARY} PRIVATE {_words(folders)})")
        rpath_links = _grouped(f"-Wl,-rpath-link,{path}" for path in folders)
        lines.append(f"target_link_options({_LIBRARY} PRIVATE {_quoted(rpath_links)})")
    links = [*(f"-l{name}" for name in toolkit.libraries), *own.items]
    if links:
        lines.append(f"target_link_libraries({_LIBRARY} PRIVATE {_words(links)})")
    (folder / "CMakeLists.txt").write_text("\n".join([*lines, ""]), encoding="utf-8")


def _grouped(options: Iterable[str]) -> str:
    # All options in one group, or CMake would drop words that stand twice (-include a -include b).
    return "SHELL:" + " ".join(map(_shell_word, options))


def _shell_word(word: str) -> str:
    # CMake's own idea of a shell: a backslash escapes in quotes of either kind.
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _words(words: Iterable[str]) -> str:
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    # CMake's bracket arguments take everything as it is; a word that holds the closing bracket gets a longer one.
    level = "="
    while f"]{level}]" in word:
        level += "="
    return f"[{level}[{word}]{level}]"


def _check(finished: Finished, tree: _Tree, sources: Sources, toolkit: Toolkit, compiler: Dict[str, Any]) -> None:
    if finished.code == 0 and not finished.timed_out:
        return
    output = tree.in_sources(finished.output, sources)
    if finished.timed_out:
        raise BuildFailed(Diagnostic(f"the compiler was stopped after {_TIMEOUT:g} s"), output, compiler)
    error = first_error(finished.output) or Diagnostic(f"the build ended with code {finished.code} and no message")
    header = error.missing_header
    file = tree.in_sources(error.file, sources) if error.file else None
    error = Diagnostic(tree.in_sources(error.text, sources), file, error.line)
    if header and toolkit.name == "shim" and not any(name.endswith(header) for name in sources.files):
        error = Diagnostic(f"{error.text}; this operator needs CANN (--toolkit cann)", error.file, error.line)
    elif toolkit.name == "shim" and _LIBRARY_STRUCT.search(error.text):
        text = f"{error.text}; the shim knows no such struct of the tiling library (--toolkit cann)"
        error = Diagnostic(text, error.file, error.line)
    raise BuildFailed(error, output, compiler)
