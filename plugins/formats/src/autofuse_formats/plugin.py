"""The specs of this distribution; one function per hook, and nothing imported but the spec types."""

from __future__ import annotations

from typing import Iterator, Tuple

from autofuse.types import LayoutSpec, LogSourceSpec, ReporterSpec, WrappingSpec, hookimpl

__all__ = ["autofuse_layout_converters", "autofuse_line_wrappings", "autofuse_log_sources", "autofuse_reporters"]


@hookimpl
def autofuse_log_sources() -> Iterator[LogSourceSpec]:
    """The order is the order of asking: the first source that claims a location opens it."""
    yield LogSourceSpec("stdin", "standard input, named -", "autofuse_formats.sources.stdin:SOURCE")
    yield LogSourceSpec("folder", "every log below a folder", "autofuse_formats.sources.folder:SOURCE")
    yield LogSourceSpec("archive", "zip and tar archives", "autofuse_formats.sources.archive:SOURCE")
    yield LogSourceSpec("file", "one file, also gz, bz2 or xz", "autofuse_formats.sources.file:SOURCE")
    yield LogSourceSpec("glob", "a shell pattern", "autofuse_formats.sources.glob:SOURCE")


@hookimpl
def autofuse_reporters() -> Iterator[ReporterSpec]:
    """What -f and the suffix of -o choose from."""
    package = "autofuse_formats.reporters"
    yield ReporterSpec("console", "aligned table for the terminal", f"{package}.console:write")
    yield ReporterSpec("text", "the console table as plain text", f"{package}.console:write_text", suffixes=(".txt",))
    yield ReporterSpec(
        "csv", "main table, values as logged", f"{package}.csv_table:write", suffixes=(".csv",), single_table=True
    )
    yield ReporterSpec(
        "jsonl",
        "main table, one JSON object per row",
        f"{package}.jsonl:write",
        suffixes=(".jsonl",),
        single_table=True,
    )
    yield ReporterSpec(
        "md", "GitHub Markdown", f"{package}.markdown:write", suffixes=(".md", ".markdown"), aliases=("markdown",)
    )
    yield ReporterSpec(
        "xlsx",
        "Excel workbook, a sheet per table",
        f"{package}.xlsx:write",
        suffixes=(".xlsx",),
        aliases=("excel",),
        needs_file=True,
    )
    yield ReporterSpec("svg", "charts and figures", f"{package}.svg:write", suffixes=(".svg",))
    yield ReporterSpec("html", "page to sort, filter and print", f"{package}.html:write", suffixes=(".html", ".htm"))


@hookimpl
def autofuse_layout_converters() -> Iterator[LayoutSpec]:
    """Every pair of a stored and a plain layout that `autofuse_formats.layouts` has a rule for."""
    four, five = ("NCHW", "NHWC", "HWCN", "CHWN"), ("NCDHW", "NDHWC", "DHWCN", "DHWNC")
    for stored in ("NC1HWC0", "NC1HWC0_C04", "FRACTAL_Z", "FRACTAL_Z_C04", "C1HWNCoC0"):
        yield from _layouts(stored, (*four, "ND"))
    yield from _layouts("NDC1HWC0", (*five, "NCHW", "NHWC", "ND"))
    for stored in ("FRACTAL_Z_3D", "FRACTAL_Z_3D_TRANSPOSE"):
        yield from _layouts(stored, (*five, "ND"))
    for stored in ("FRACTAL_NZ", "FRACTAL_NZ_C0_16", "FRACTAL_NZ_C0_32", "FRACTAL_ZZ"):
        yield from _layouts(stored, ("ND",))
    for names in (four, five, ("NC", "CN")):
        for stored in names:
            yield from _layouts(stored, tuple(plain for plain in names if plain != stored))


def _layouts(stored: str, plains: Tuple[str, ...]) -> Iterator[LayoutSpec]:
    for plain in plains:
        factory = f"autofuse_formats.layouts.catalog:{stored}_to_{plain}"
        yield LayoutSpec(f"{stored}-{plain}", f"{stored} to {plain}", factory, stored=stored, plain=plain)


@hookimpl
def autofuse_line_wrappings() -> Iterator[WrappingSpec]:
    """What stands before a message in logs of CANN."""
    yield WrappingSpec("plog", "plog and slog of CANN", "autofuse_formats.wrappings:read_plog")
    yield WrappingSpec("bare", "bracket groups: [INFO] [Op]", "autofuse_formats.wrappings:read_bare")
