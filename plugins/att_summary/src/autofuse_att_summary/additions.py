"""What single messages add to an invocation: values, symbols, hardware, and the lines that are kept with a template."""

from __future__ import annotations

import re
from typing import Dict, List, Sequence, Tuple

from autofuse import types

from autofuse_att_summary.kept_lines import KeptLines
from autofuse_att_summary.model import GroupKey, Invocation, Template, TemplateKey

__all__ = [
    "add_hardware",
    "add_symbols",
    "add_values",
    "assignments",
    "changes_inputs",
    "decoded",
    "hardware_values",
    "line_numbers",
    "name_group",
    "one_print",
    "store_lines",
    "template_key",
    "template_of",
]

_OLD_HARDWARE = re.compile(rb"core_num: (\d+), ub_size: (\d+)")
_MANY_PRINTS = 256
"""Chunks of a template; when there are so many, all but the first become one."""


def store_lines(invocation: Invocation, key: TemplateKey, lines: KeptLines) -> None:
    kept = invocation.kept.get(key)
    if kept is None:
        invocation.kept[key] = lines
    else:
        kept.add(lines)
    invocation.kept_bytes += len(lines.raw)


def line_numbers(first_line: int, lines: memoryview, first: int, count: int) -> Sequence[int]:
    """The lines of a run; a range when they follow each other, which costs no memory."""
    if lines[first + count - 1] - first_line == count - 1:
        return range(first_line, first_line + count)
    return tuple(lines[first : first + count])


def template_of(invocation: Invocation, key: TemplateKey, path: str, line: int) -> Template:
    template = invocation.templates.get(key)
    if template is None:
        template = invocation.templates[key] = Template(key, path, line)
        invocation.groups.setdefault(key[:3], line)
    return template


def name_group(invocation: Invocation, group: GroupKey, line: int) -> None:
    invocation.groups.setdefault(group, line)


def add_values(
    invocation: Invocation, key: TemplateKey, chunk: Tuple[bytes, bytes, Sequence[int]], path: str, line: int
) -> None:
    invocation.graphs.add(key[0])
    if key[:3] not in invocation.foreign:
        chunks = template_of(invocation, key, path, line).chunks
        chunks.append(chunk)
        if len(chunks) % _MANY_PRINTS == 0 and len(chunks) > chunks[1][0].count(b"\n"):
            chunks[1:] = [_last_prints(chunks[1:])]


def _last_prints(chunks: Sequence[Tuple[bytes, bytes, Sequence[int]]]) -> Tuple[bytes, bytes, Sequence[int]]:
    """One chunk with the last print of each name: a template that is printed over and over needs no more."""
    last: Dict[bytes, Tuple[bytes, int]] = {}
    for names, values, lines in chunks:
        for name, value, line in zip(names.split(b"\n"), values.split(b"\n"), lines):
            last[name] = (value, line)
    if b"" in last:
        last[b""] = last.pop(b"")  # the objective stands last
    return (
        b"\n".join(last),
        b"\n".join(value for value, _ in last.values()),
        tuple(line for _, line in last.values()),
    )


def add_symbols(invocation: Invocation, group: GroupKey, symbols: Dict[str, str]) -> None:
    """Takes the symbols of a solve; one that changes an input of the call is the solve of a group that reuses this one.

    Inputs are the same for all solves of a call, but a group without a solver of its own runs that of another group,
    which then prints that group's id with the values of the reusing one. Sizes derived from the tiling of an earlier
    group (`A_org_size`) may differ when the winner is solved again; there the last print counts.
    """
    if changes_inputs(invocation, group, symbols):
        invocation.foreign.add(group)
    else:
        invocation.foreign.discard(group)
        invocation.group_shapes.setdefault(group, {}).update(symbols)


def changes_inputs(invocation: Invocation, group: GroupKey, symbols: Dict[str, str]) -> bool:
    known = invocation.group_shapes.get(group, {})
    return any(known.get(name, value) != value for name, value in symbols.items() if not _is_derived(name))


def _is_derived(name: str) -> bool:
    return name.endswith("_org_size")


def template_key(template: types.TemplateId) -> TemplateKey:
    return (template.graph, template.result, template.group, template.case, template.sub_case)


def one_print(name: str, value: str, line: int) -> Tuple[bytes, bytes, Sequence[int]]:
    return name.encode("utf-8", "surrogateescape"), value.encode("utf-8", "surrogateescape"), (line,)


def decoded(part: bytes) -> str:
    return part.decode("utf-8", "replace")


def add_hardware(invocation: Invocation, values: Dict[str, str]) -> None:
    for name, value in values.items():
        invocation.hardware.setdefault(name, value)


def assignments(text: bytes) -> List[Tuple[bytes, bytes]]:
    """`s0 = 1024. s1 = 512.` as pairs; a value without its full stop was cut and is left out."""
    words = text.split()
    return [
        (words[at - 1], words[at + 1][:-1])
        for at in range(1, len(words) - 1)
        if words[at] == b"=" and len(words[at + 1]) > 1 and words[at + 1].endswith(b".") and b"=" not in words[at - 1]
    ]


def hardware_values(text: bytes) -> Dict[str, str]:
    """UB in bytes and cores, as `Set hardware params` or the older `input: core_num: …` gives them to the solver."""
    old = _OLD_HARDWARE.match(text)
    if old:
        return {"block_dim": old.group(1).decode(), "ub_size": old.group(2).decode()}
    return {decoded(name): decoded(value) for name, value in assignments(text)}
