"""The command `split-slog`: cuts a giant log into one small file per template, compiler and runtime side."""

from __future__ import annotations

from typing import Dict, List, Optional, Set, Tuple

import click
from autofuse.cli.app import App
from autofuse.errors import EXIT_CANNOT, EXIT_CHECK_FAILED, AutofuseError
from autofuse.scan.lines import LineBatch, rows
from autofuse.scan.locations import open_streams
from autofuse.scan.reader import ReadOptions, read_streams
from autofuse.scan.source import Notices

from autofuse_att_summary.columns import EventBatch
from autofuse_att_summary.dfx import BLOCK_MARKERS
from autofuse_att_summary.filters import CaseFilter, CaseFilterType, matches_any
from autofuse_att_summary.fold import Fold
from autofuse_att_summary.kept_lines import KeptLines
from autofuse_att_summary.model import Invocation, TemplateKey, shape_text
from autofuse_att_summary.notices import say_what_was_skipped
from autofuse_att_summary.parser import AttParser, parser
from autofuse_att_summary.plugin import MARKERS
from autofuse_att_summary.reading import LogRun, foreign_wrappings, leave_out, rare_collections
from autofuse_att_summary.split_compiler import CompilerSide
from autofuse_att_summary.split_files import SplitFile, SplitFolder, operator_folder

__all__ = ["command"]

_MENTIONS = (b" for tiling case ", b"tiling_case_id ", b"[PERF]")
"""What lines hold that name a template without being of use for the run model."""
DEFAULT_FOLDER = "output/split/"


@click.command("split-slog", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("logs", metavar="LOG...", nargs=-1, required=True)
@click.option("--op", "patterns", metavar="NAME", multiple=True, help="Only this operator (or shell-style pattern).")
@click.option("--case", "case_filter", type=CaseFilterType(), help="Only these results, groups, cases: r=0,1,g=2,c=R3.")
@click.option("-o", "--output", metavar="DIR", default=DEFAULT_FOLDER, show_default=True, help="Folder to write to.")
@click.pass_context
def command(
    ctx: click.Context, logs: Tuple[str, ...], patterns: Tuple[str, ...], case_filter: Optional[CaseFilter], output: str
) -> None:
    """Cut logs into one file per template, for the compiler and the runtime side, with an index.json.

    LOG is a file, a folder, an archive, a pattern, or - for standard input.
    """
    app: App = ctx.obj
    if output == "-":
        raise click.UsageError("-o names a folder: there is a file for every template", ctx)
    folder = SplitFolder(output)
    try:
        splitter = _Splitter(app, folder, patterns, case_filter or CaseFilter())
        run = splitter.read(logs)
        say_what_was_skipped(app, run)
        files = splitter.finish()
        if not files:
            raise AutofuseError(splitter.nothing(run), exit_code=EXIT_CHECK_FAILED)
        folder.publish(files, {"inputs": [stream.name for stream in run.streams]})
    except OSError as error:
        raise AutofuseError(f"cannot write: {error.strerror or error}", output) from error
    finally:
        folder.close()
    operators = len({entry.operator for entry in files})
    click.echo(f"{len(files)} files of {operators} operators in {output}")
    if run.notices.failures:
        ctx.exit(EXIT_CANNOT)


class _Splitter:
    """Both sides of one run."""

    def __init__(self, app: App, folder: SplitFolder, patterns: Tuple[str, ...], case_filter: CaseFilter) -> None:
        self._app = app
        self._folder = folder
        self._patterns = patterns
        self._filter = case_filter
        self._fold = Fold(self._invocation, keep_lines=self._lines)
        self._begun: Dict[int, Set[TemplateKey]] = {}
        """Of each call that is not complete yet: the templates of which lines were written."""
        self._compiler = CompilerSide(folder, parser.native)
        self._runtime: Dict[Tuple[str, TemplateKey], SplitFile] = {}

    def read(self, logs: Tuple[str, ...]) -> LogRun:
        """Reads the logs once; runtime lines are written as soon as their call is complete."""
        run = LogRun(Notices())
        streams = open_streams(self._app.host, logs, run.notices)
        streams = leave_out(streams, self._folder.earlier(), run.notices)
        markers = [*MARKERS, *_MENTIONS, *BLOCK_MARKERS]
        options = ReadOptions(everything=True)
        wrapped = parser.with_wrappings(foreign_wrappings(self._app))
        reader = read_streams(streams, markers, run.notices, _Stage(wrapped), options)
        with rare_collections():
            for batch in reader:
                found, has_dfx = batch.staged
                self._fold.columns(batch, found)
                self._compiler.batch(batch, found, has_dfx)
                run.count(batch, found)
        self._fold.finish()
        run.streams = reader.streams
        run.dropped_cut = self._fold.dropped_cut
        return run

    def finish(self) -> List[SplitFile]:
        """All files, in the order of their paths."""
        compiler = self._compiler.finish(self.operators(), self._wants_compiler)
        return sorted([*self._runtime.values(), *compiler], key=lambda entry: entry.path)

    def operators(self) -> List[str]:
        """Every operator of the log, in order of appearance."""
        return list(dict.fromkeys(name for name, _ in self._fold.runs))

    def nothing(self, run: LogRun) -> str:
        """Why there is no file."""
        operators = self.operators()
        if not operators:
            return (
                f"nothing to split in {run.lines} lines of {len(run.streams)} files: looked for lines that name a "
                "template and for [DFX] blocks"
            )
        there = ", ".join(operators[:20]) + (" …" if len(operators) > 20 else "")
        if self._patterns and not any(matches_any(name, self._patterns) for name in operators):
            return f"no operator matches {' or '.join(self._patterns)}; there are: {there}"
        return f"no line passes --case; operators read: {there}"

    def _invocation(self, invocation: Invocation) -> None:
        self._lines(invocation)
        self._begun.pop(invocation.key, None)

    def _lines(self, invocation: Invocation) -> None:
        """Writes the lines that the call has kept so far."""
        if matches_any(invocation.operator, self._patterns):
            begun = self._begun.setdefault(invocation.key, set())
            for key, kept in invocation.kept.items():
                if self._filter.wants(key[1], key[2], key[3], key[4]):
                    self._runtime_lines(invocation, key, kept, key in begun)
                    begun.add(key)
        invocation.kept = {}
        invocation.kept_bytes = 0

    def _runtime_lines(self, invocation: Invocation, key: TemplateKey, kept: KeptLines, begun: bool) -> None:
        operator = invocation.operator
        entry = self._runtime.get((operator, key))
        if entry is None:
            entry = self._runtime[(operator, key)] = SplitFile(_runtime_path(operator, key), operator, "runtime", *key)
        elif not begun:
            head = f"# invocation {invocation.ordinal}  {shape_text(invocation.shape)}".rstrip()
            self._folder.append(entry.path, head.encode("utf-8", "surrogateescape") + b"\n")
        if not begun:
            entry.invocations += 1
        self._folder.append(entry.path, kept.raw)
        entry.count(kept.count, kept.first, kept.last)

    def _wants_compiler(self, operator: Optional[str], entry: SplitFile) -> bool:
        named = not self._patterns or (operator is not None and matches_any(operator, self._patterns))
        return named and self._filter.wants(entry.result, entry.group, entry.case, entry.sub_case)


def _runtime_path(operator: str, key: TemplateKey) -> str:
    graph, result, group, case, sub_case = key
    return f"{operator_folder(operator)}/runtime/graph{graph}_result{result}/g{group}/case{sub_case}{case}.log"


class _Stage:
    """What the reading threads do with a batch: events line by line, and whether it begins or ends a compiler block."""

    def __init__(self, att: AttParser) -> None:
        self._att = att

    def __call__(self, batch: LineBatch) -> Tuple[EventBatch, bool]:
        if not len(batch):
            return _NOTHING, False
        first = len(MARKERS) + len(_MENTIONS)
        has_dfx = any(row[2] >= first for row in rows(batch.matches))
        return self._att.columns(batch, mentions=True), has_dfx


_EMPTY = memoryview(b"").cast("q")
_NOTHING = EventBatch([], [], [], _EMPTY, 0, 0, 0, _EMPTY)
