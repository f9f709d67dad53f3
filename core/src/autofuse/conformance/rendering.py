"""Checks of reporters and layout converters: everything a report can hold is written, everything that fits converts."""

from __future__ import annotations

import io
from dataclasses import replace
from functools import partial
from typing import Any, Iterator, Tuple

from autofuse.conformance.check import Check, Failed, attempt
from autofuse.conformance.report_sample import empty_report, standard_report
from autofuse.report.model import Report, ReportContext
from autofuse.types import LayoutSample, LayoutSpec, ReporterSpec

__all__ = ["check_layout", "check_reporter"]

_MISFITS = (((3,), (5, 7, 11, 13)), ((2, 3, 5, 7), (1009, 1013, 1019, 1021)), ((), (2, 2, 2, 2)))
"""Stored shapes with too few elements for any original shape beside them."""


def check_reporter(spec: ReporterSpec, reporter: Any) -> Iterator[Check]:
    """All checks of one reporter."""
    subject = f"reporter {spec.name}"
    contexts = {
        "to a file": ReportContext(to_file=True),
        "to a pipe": ReportContext(),
        "to a narrow terminal": ReportContext(colour=True, width=40),
        "in Chinese": ReportContext(to_file=True, lang="zh"),
    }
    for name, context in contexts.items():
        yield from attempt(
            subject, f"writes the standard report {name}", partial(_write, reporter, _fit(spec), context)
        )
    yield from attempt(
        subject, "writes a report without rows", lambda: _write(reporter, empty_report(), ReportContext(to_file=True))
    )
    yield from attempt(subject, "gives the same bytes each time", lambda: _same_twice(spec, reporter))
    yield from attempt(subject, "lets no control sequence through", lambda: _is_harmless(spec, reporter))


def check_layout(spec: LayoutSpec, convert: Any) -> Iterator[Check]:
    """All checks of one layout converter."""
    subject = f"layout converter {spec.name}"
    try:
        import numpy
    except ImportError:
        yield Check("note", subject, "not checked: numpy is not installed")
        return
    yield from attempt(subject, "refuses what does not fit with ValueError", lambda: _refuses(numpy, convert))
    if not spec.samples:
        yield Check("note", subject, "no samples; a LayoutSample in the spec lets the conversion itself be checked")
    for sample in spec.samples:
        text = f"converts {sample.stored} to {sample.shape}"
        yield from attempt(subject, text, partial(_converts, numpy, convert, sample))


def _fit(spec: ReporterSpec) -> Report:
    """What the host hands over: a single-table format in a folder is given one table at a time."""
    report = standard_report()
    return replace(report, tables=report.tables[:1]) if spec.single_table else report


def _write(reporter: Any, report: Report, context: ReportContext) -> bytes:
    out = io.BytesIO()
    reporter(report, out, context)
    if out.closed:
        raise Failed("it closes the output, which is the host's")
    return out.getvalue()


def _same_twice(spec: ReporterSpec, reporter: Any) -> object:
    context = ReportContext(to_file=True)
    if _write(reporter, _fit(spec), context) != _write(reporter, _fit(spec), context):
        return "two runs give different bytes, so its outputs cannot be compared"
    return None


def _is_harmless(spec: ReporterSpec, reporter: Any) -> object:
    content = _write(reporter, _fit(spec), ReportContext())
    if b"\x1b" in content and not spec.needs_file:
        return "an escape character out of a name reaches the output: right for data, wrong for what people look at"
    return None


def _refuses(numpy: Any, convert: Any) -> None:
    for stored, shape in _MISFITS:
        try:
            found = convert(numpy.zeros(stored, numpy.float32), shape)
        except ValueError:
            continue
        raise Failed(f"stored {stored} gives {tuple(getattr(found, 'shape', ()))} for the original shape {shape}")


def _converts(numpy: Any, convert: Any, sample: LayoutSample) -> None:
    size = 1
    for length in sample.stored:
        size *= length
    stored = numpy.arange(1, size + 1, dtype=numpy.int64).reshape(sample.stored)
    plain = convert(stored, sample.shape)
    _compare_shapes(plain, sample.shape)
    if len(numpy.unique(plain)) != plain.size or (plain.size and (plain.min() < 1 or plain.max() > size)):
        raise Failed("an element of the plain tensor is no element of the stored one, or is one twice")
    for name in ("float16", "int8"):
        if convert(stored.astype(name), sample.shape).dtype != numpy.dtype(name):
            raise Failed(f"the element type {name} is changed")


def _compare_shapes(plain: Any, shape: Tuple[int, ...]) -> None:
    found = tuple(getattr(plain, "shape", ()))
    if found != shape:
        raise Failed(f"it gives the shape {found}")
