"""Every hook of autofuse, in the order of docs/reference/hooks.md. A plugin module implements any of them.

Hooks are called once per run with keyword arguments and yield frozen specs; an implementation takes only the arguments
it needs. Within one `API_VERSION` arguments are added, never removed. The examples below are run as tests.
"""

from __future__ import annotations

from typing import Iterable

import pluggy

from autofuse.types import (
    CommandSpec,
    DoctorSpec,
    ExecutorSpec,
    LayoutSpec,
    LogSourceSpec,
    ParserSpec,
    ReporterSpec,
    RuleSpec,
    RunnerSpec,
    WrappingSpec,
)

__all__ = ["HOOKS", "hookspec"]

hookspec = pluggy.HookspecMarker("autofuse")


@hookspec
def autofuse_commands(api_version: int) -> Iterable[CommandSpec]:  # type: ignore[empty-body]
    """Commands: `factory` names a `click.Command`, imported when the command is run or its help is shown.

    >>> from autofuse.types import CommandSpec, hookimpl
    >>> @hookimpl
    ... def autofuse_commands():
    ...     yield CommandSpec("hello", "Say hello.", "my_plugin.hello:command", section="Examples")
    >>> [spec.name for spec in autofuse_commands()]
    ['hello']
    """


@hookspec
def autofuse_log_sources(api_version: int) -> Iterable[LogSourceSpec]:  # type: ignore[empty-body]
    """Log sources: open a location (path, folder, archive, `-`) and yield named byte streams.

    The object behind `factory` is an `autofuse.scan.source.LogSource`: `claims(location) -> bool` and
    `streams(location, notices) -> Iterator[ByteStream]`. The first source that claims a location opens it, plugins
    before built-in ones.

    >>> from autofuse.types import LogSourceSpec, hookimpl
    >>> @hookimpl
    ... def autofuse_log_sources():
    ...     yield LogSourceSpec("s3", "Objects of a bucket", "my_plugin.s3:Source")
    >>> [spec.name for spec in autofuse_log_sources()]
    ['s3']
    """


@hookspec
def autofuse_line_wrappings(api_version: int) -> Iterable[WrappingSpec]:  # type: ignore[empty-body]
    """Line wrappings: read what stands before a message.

    The object behind `factory` is called as `wrapping(prefix: bytes) -> Optional[Wrapping]` with the bytes of the line
    before the message that a parser found, and gives `autofuse.scan.lines.Wrapping` or None when the prefix is not its
    own. Wrappings of plugins are asked before the built-in ones.

    >>> from autofuse.types import WrappingSpec, hookimpl
    >>> @hookimpl
    ... def autofuse_line_wrappings():
    ...     yield WrappingSpec("syslog", "RFC 3164 prefixes", "my_plugin.syslog:read_prefix")
    >>> [spec.name for spec in autofuse_line_wrappings()]
    ['syslog']
    """


@hookspec
def autofuse_record_parsers(api_version: int) -> Iterable[ParserSpec]:  # type: ignore[empty-body]
    """Record parsers: turn the lines that hold one of their literal markers into records of `autofuse.types`.

    The object behind `factory` is called as `parser(batch: LineBatch) -> Iterable[Record]`. `samples` are compulsory:
    the conformance kit parses each sample line and compares the fields.

    >>> from autofuse.types import FormatSample, ParserSpec, TilingValue, hookimpl
    >>> @hookimpl
    ... def autofuse_record_parsers():
    ...     yield ParserSpec(
    ...         "acme", "Tiling lines of ACME", "acme.parser:parse", markers=(b"ACME|",), records=(TilingValue,),
    ...         samples=(FormatSample("ACME|Add|0.0.0.1|q0_size|64", {"operator": "Add", "value": "64"}),),
    ...     )
    >>> [spec.markers for spec in autofuse_record_parsers()]
    [(b'ACME|',)]
    """


@hookspec
def autofuse_layout_converters(api_version: int) -> Iterable[LayoutSpec]:  # type: ignore[empty-body]
    """Layout converters: from the tensor as stored to the plain tensor.

    The object behind `factory` is called as `convert(stored: numpy.ndarray, shape: tuple[int, ...], *, groups: int = 1,
    c0: Optional[int] = None) -> numpy.ndarray` with the original shape in the order of the plain layout, and gives a
    view where strides allow it. Padding is cropped. ValueError when the stored shape does not fit the original one.

    >>> from autofuse.types import LayoutSpec, hookimpl
    >>> @hookimpl
    ... def autofuse_layout_converters():
    ...     yield LayoutSpec("tiled", "Tiles of 32 x 32", "acme.layout:convert", stored="ACME_TILED", plain="ND")
    >>> [(spec.stored, spec.plain) for spec in autofuse_layout_converters()]
    [('ACME_TILED', 'ND')]
    """


@hookspec
def autofuse_reporters(api_version: int) -> Iterable[ReporterSpec]:  # type: ignore[empty-body]
    """Reporters: write a report in one format.

    The object behind `factory` is called as `write(report: Report, out: BinaryIO, context: ReportContext) -> None`.

    >>> from autofuse.types import ReporterSpec, hookimpl
    >>> @hookimpl
    ... def autofuse_reporters():
    ...     yield ReporterSpec("tsv", "Tab separated values", "acme.tsv:write", suffixes=(".tsv",), single_table=True)
    >>> [spec.suffixes for spec in autofuse_reporters()]
    [('.tsv',)]
    """


@hookspec
def autofuse_native_runners(api_version: int) -> Iterable[RunnerSpec]:  # type: ignore[empty-body]
    """Native runners: build and call native code in another process.

    The object behind `factory` is the runner class that verify-tiling uses; docs/reference/hooks.md has its methods.

    >>> from autofuse.types import RunnerSpec, hookimpl
    >>> @hookimpl
    ... def autofuse_native_runners():
    ...     yield RunnerSpec("qemu", "Runs aarch64 libraries under qemu-user", "acme.qemu:Runner")
    >>> [spec.name for spec in autofuse_native_runners()]
    ['qemu']
    """


@hookspec
def autofuse_executors(api_version: int) -> Iterable[ExecutorSpec]:  # type: ignore[empty-body]
    """Executors: where independent pieces of work run. `local` is built in.

    The object behind `factory` is called as `executor(jobs: int) -> concurrent.futures.Executor`.

    >>> from autofuse.types import ExecutorSpec, hookimpl
    >>> @hookimpl
    ... def autofuse_executors():
    ...     yield ExecutorSpec("slurm", "One task per job of a cluster", "acme.slurm:executor")
    >>> [spec.name for spec in autofuse_executors()]
    ['slurm']
    """


@hookspec
def autofuse_rules(api_version: int) -> Iterable[RuleSpec]:  # type: ignore[empty-body]
    """Finding rules of analyze: one spec per rule.

    >>> from autofuse.types import RuleSpec, hookimpl
    >>> @hookimpl
    ... def autofuse_rules():
    ...     yield RuleSpec("ub-under-use", "UB use below 20 %", "acme.rules:ub_under_use")
    >>> [spec.name for spec in autofuse_rules()]
    ['ub-under-use']
    """


@hookspec
def autofuse_doctor_checks(api_version: int) -> Iterable[DoctorSpec]:  # type: ignore[empty-body]
    """Checks of `autofuse doctor`: whether what a plugin needs on this machine is there.

    The object behind `factory` is called as `check() -> Tuple[str, str]` and gives a status (`ok`, `note` or `broken`)
    and one line of text.

    >>> from autofuse.types import DoctorSpec, hookimpl
    >>> @hookimpl
    ... def autofuse_doctor_checks():
    ...     yield DoctorSpec("license", "The licence server answers", "acme.license:check")
    >>> [spec.name for spec in autofuse_doctor_checks()]
    ['license']
    """


HOOKS = {
    "autofuse_commands": CommandSpec,
    "autofuse_log_sources": LogSourceSpec,
    "autofuse_line_wrappings": WrappingSpec,
    "autofuse_record_parsers": ParserSpec,
    "autofuse_layout_converters": LayoutSpec,
    "autofuse_reporters": ReporterSpec,
    "autofuse_native_runners": RunnerSpec,
    "autofuse_executors": ExecutorSpec,
    "autofuse_rules": RuleSpec,
    "autofuse_doctor_checks": DoctorSpec,
}
"""Each hook and the type of the specs it yields; anything else an implementation yields makes its plugin broken."""
