"""The artifacts dictionary of a compiled-graph module (`output_code.py`): read as a literal, never executed.

Gives the files that the strings in it stand for. Which of them are compiled is left to the build step.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import sys
import tokenize
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Tuple

from autofuse.errors import AutofuseError
from autofuse.names import safe_name

__all__ = ["Artifacts", "read_artifacts", "split_host_impl"]

_HEADERS = {
    "TilingHead": "autofuse_tiling_func_common.h",
    "ACubeKernelTilingWrapperHpp": "cube_kernel_tiling_wrapper.h",
    **{
        f"Tiling{part}Header": f"autofuse_tiling_func_{part.lower()}.h"
        for part in ("State", "Log", "Pgo", "Base", "Solver", "Api", "Entry", "Tail")
    },
}
"""Key of a section → the file name that the generated code includes it by."""

_MARKER = re.compile(r"^[ \t]*// AUTOFUSE_SPLIT_FILE_(BEGIN|END):([^\r\n]*?)[ \t]*\r?$")
_KEY = re.compile(r"[A-Za-z0-9_.-]+")
_MOST_TOKENS = 50000


@dataclass(frozen=True)
class Artifacts:
    """One artifacts dictionary as files: name → text."""

    graph: str
    files: Dict[str, str]


def read_artifacts(source: str, where: str, graph: Optional[str] = None) -> Artifacts:
    """The artifacts of the only graph of the module, or of the one named `graph`.

    AutofuseError when the text is no Python, holds no `*_artifacts` dictionary literal or several, or lacks a key.
    """
    name, value = _choose(dict(_literals(_parse(source, where), where)), where, graph)
    for key in ("tiling_def", "host_impl"):
        if not isinstance(value.get(key), str):
            problem = "is no string" if key in value else "is missing"
            raise AutofuseError(f"{name}_artifacts: the key {key!r} {problem}", where, "needs tiling_def and host_impl")
    files = {"autofuse_tiling_data.h": value["tiling_def"]}
    sources = split_host_impl(value["host_impl"], name, where)
    if not any(path.endswith(".cpp") for path in sources):
        raise AutofuseError(
            f"{name}_artifacts: host_impl holds no translation unit", where, "only headers are split off"
        )
    for path, text in sources.items():
        if path in files:
            raise AutofuseError(f"{name}_artifacts: two texts for {path}", where)
        files[path] = text
    return Artifacts(name, files)


def split_host_impl(text: str, graph: str, where: str) -> Dict[str, str]:
    """File name → text of a `host_impl`: one file, or the sections between its split markers."""
    stem = graph if re.fullmatch(r"[A-Za-z0-9_]+", graph) else safe_name(graph)
    sections = _sections(text, where)
    if sections is None:
        return {f"{stem}_tiling_func.cpp": text}
    files = {_HEADERS.get(key, f"{stem}_tiling_func_{key}.cpp"): body for key, body in sections.items()}
    if "TilingHead" in sections and not any(key in sections for key in _HEADERS if key.endswith("Header")):
        include = f'#include "{_HEADERS["TilingHead"]}"\n'
        # A #line keeps the numbers of messages those of the section.
        files = {name: f"{include}#line 1\n{body}" if name.endswith(".cpp") else body for name, body in files.items()}
    return files


def _parse(source: str, where: str) -> ast.Module:
    try:
        if sys.version_info < (3, 11) and _longest_statement(source) > _MOST_TOKENS:
            raise RecursionError("a statement is too long")
        return ast.parse(source)
    except SyntaxError as error:
        raise AutofuseError(f"is no Python: {error.msg}", f"{where}:{error.lineno or 1}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise AutofuseError(f"cannot be read as Python: {error}", where) from None


def _longest_statement(source: str) -> int:
    """Tokens of the longest statement; older interpreters crash on chains of operators that newer ones refuse."""
    longest = count = 0
    with contextlib.suppress(tokenize.TokenError, IndentationError, SyntaxError):
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            count = 0 if token.type == tokenize.NEWLINE else count + 1
            longest = max(longest, count)
    return longest


def _literals(module: ast.Module, where: str) -> Iterator[Tuple[str, Dict[str, Any]]]:
    for node in ast.walk(module):
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or not isinstance(node.value, ast.Dict):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Name) and target.id.endswith("_artifacts"):
                yield target.id[: -len("_artifacts")], _literal(node.value, f"{where}:{node.lineno}", target.id)


def _literal(node: ast.Dict, where: str, name: str) -> Dict[str, Any]:
    try:
        value: Dict[str, Any] = ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError, SyntaxError):
        # Entries that are no literals (a function, a joined string) are nobody's business but theirs.
        value = {}
        for key, item in zip(node.keys, node.values):
            try:
                if key is not None:
                    value[ast.literal_eval(key)] = ast.literal_eval(item)
            except (ValueError, TypeError, RecursionError, MemoryError, SyntaxError):
                continue
        if not {"tiling_def", "host_impl"} <= value.keys():
            raise AutofuseError(f"{name} is no dictionary of literals", where, "it is never executed") from None
    return value


def _choose(found: Dict[str, Dict[str, Any]], where: str, graph: Optional[str]) -> Tuple[str, Dict[str, Any]]:
    if not found:
        raise AutofuseError("holds no `*_artifacts` dictionary literal", where, "is it the output_code.py of inductor?")
    names = ", ".join(found)
    if graph is not None:
        if graph not in found:
            raise AutofuseError(f"has no artifacts of the graph {graph!r}", where, f"there are: {names}")
        return graph, found[graph]
    if len(found) > 1:
        raise AutofuseError(f"holds the artifacts of {len(found)} graphs", where, f"choose one with --graph: {names}")
    return next(iter(found.items()))


def _sections(text: str, where: str) -> Optional[Dict[str, str]]:
    """Key → text of the sections; None when the text has no marker at all."""
    sections: Dict[str, str] = {}
    open_key: Optional[str] = None
    marked = False
    lines: List[str] = []
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        found = _MARKER.match(line.rstrip("\n"))
        if found is None:
            if open_key is None and marked and line.strip():
                raise _broken(where, number, f"text outside the sections: {line.strip()[:40]!r}")
            lines.append(line)
            continue
        if not marked and any(before.strip() for before in lines):
            raise _broken(where, number, "text before the first section")
        marked = True
        if found[1] == "BEGIN":
            _check_begin(found[2], open_key, sections, where, number)
            open_key = found[2]
        else:
            if open_key is None or found[2] != open_key:
                raise _broken(where, number, f"END:{found[2][:60]} without its BEGIN")
            sections[open_key] = "".join(lines)
            open_key = None
        lines = []
    if open_key is not None:
        raise _broken(where, text.count("\n") + 1, f"the section {open_key} has no END")
    return sections if marked else None


def _check_begin(key: str, open_key: Optional[str], sections: Dict[str, str], where: str, number: int) -> None:
    if open_key is not None:
        raise _broken(where, number, f"the section {key[:60]} begins inside {open_key}")
    if not _KEY.fullmatch(key):
        raise _broken(where, number, f"bad section key {key[:60]!r}: accepted: [A-Za-z0-9_.-]+")
    if key in sections:
        raise _broken(where, number, f"the section {key} stands twice")


def _broken(where: str, number: int, problem: str) -> AutofuseError:
    return AutofuseError(f"host_impl line {number}: {problem}", where, "AUTOFUSE_SPLIT_FILE markers")
