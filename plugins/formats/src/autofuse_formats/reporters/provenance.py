"""What a report was made from and by, as lines that every human-readable format shows."""

from __future__ import annotations

from typing import Iterator, Tuple

from autofuse.report.model import Provenance

from autofuse_formats.reporters.words import words

__all__ = ["provenance_lines"]


def provenance_lines(provenance: Provenance, lang: str) -> Iterator[Tuple[str, str]]:
    """(what, value) of everything the provenance holds."""
    word = words(lang)
    if provenance.command:
        yield word["command"], provenance.command
    for path in provenance.inputs:
        yield word["input"], path
    for name, version in provenance.versions.items():
        yield f"{word['version']} {name}", version
    yield from provenance.details.items()
