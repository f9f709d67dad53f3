"""The command `evidence`: everything a log says about every template, as JSON lines with a manifest that proves it."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import os
import secrets
import tempfile
from pathlib import Path
from typing import IO, Any, Dict, Iterator, List, Optional, Tuple

import click
from autofuse import __version__
from autofuse.cli.app import App
from autofuse.errors import EXIT_CANNOT, EXIT_CHECK_FAILED, AutofuseError
from autofuse.files import make_folder
from autofuse.scan.locations import open_streams
from autofuse.scan.source import Notices

from autofuse_att_summary.evidence_records import SCHEMA_VERSION, STDIN, final_objects, template_objects
from autofuse_att_summary.model import Invocation
from autofuse_att_summary.notices import say_what_was_skipped
from autofuse_att_summary.reading import LogRun, leave_out, place_of, read_log_streams

__all__ = ["MANIFEST", "MANIFEST_VERSION", "RECORDS", "command", "sha256_of"]

RECORDS = "att-evidence.jsonl"
MANIFEST = "tool-manifest.json"
MANIFEST_VERSION = "att-tool/v1"

_COPY = 1 << 20


@click.command("evidence", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("logs", metavar="LOG...", nargs=-1)
@click.option("-o", "--output", metavar="DIR", help=f"Folder for {RECORDS} and {MANIFEST}; created when absent.")
@click.option("--check", "checked", metavar="DIR", help="Validate the evidence in DIR instead; needs no LOG.")
@click.pass_context
def command(ctx: click.Context, logs: Tuple[str, ...], output: Optional[str], checked: Optional[str]) -> None:
    """Write every template of every invocation as JSON lines, with a manifest.

    LOG is a file, a folder, an archive, a pattern, or - for standard input.
    """
    app: App = ctx.obj
    if checked is not None:
        if logs or output is not None:
            raise click.UsageError("--check takes no LOG and no -o", ctx)
        from autofuse_att_summary.evidence_check import check_folder

        ctx.exit(check_folder(app, checked))
    if not logs or output is None:
        raise click.UsageError("evidence needs LOG... and -o DIR (or --check DIR)", ctx)
    if output == "-":
        raise click.UsageError("-o names a folder: evidence is two files", ctx)
    run, count = write_evidence(app, logs, output)
    say_what_was_skipped(app, run)
    if count == 0:
        raise AutofuseError(
            f"no tiling messages in {run.lines} lines of {len(run.streams)} files; {output} says so",
            hint="INFO lines of module GE hold them",
            exit_code=EXIT_CHECK_FAILED,
        )
    click.echo(f"{count} records in {os.path.join(output, RECORDS)}")
    if run.notices.failures:
        ctx.exit(EXIT_CANNOT)


def write_evidence(app: App, logs: Tuple[str, ...], output: str) -> Tuple[LogRun, int]:
    """Reads the logs once and writes both files; a failed run leaves an earlier pair as it was."""
    folder = make_folder(output)
    for name in (RECORDS, MANIFEST):
        if (folder / name).is_dir():
            raise AutofuseError("is a folder; a file of that name is to be written", str(folder / name))
    notices = Notices()
    streams = open_streams(app.host, logs, notices)
    streams = leave_out(streams, {place_of(str(folder / name)) for name in (RECORDS, MANIFEST)}, notices)
    counts = [0]
    with _spool(folder) as finals, _staged(folder, RECORDS) as place:
        try:
            with place.open("xb") as out:
                templates = _Digested(out)

                def sink(invocation: Invocation) -> None:
                    for target, objects in ((finals, final_objects), (templates, template_objects)):
                        lines = [text.encode("utf-8", "backslashreplace") + b"\n" for text in objects(invocation)]
                        if lines:
                            target.write(b"".join(lines))
                            counts[0] += len(lines)

                run = read_log_streams(app, streams, notices, sink, digest=True)
            with _ordered(folder, finals, place, templates.digest) as (records, digest):
                _publish(app, folder, records, digest, run, counts[0])
        except OSError as error:
            raise AutofuseError(f"cannot write the evidence: {error.strerror or error}", str(folder)) from error
    return run, counts[0]


class _Digested:
    """A file that is written with its SHA-256."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> int:
        """Writes all of `data`."""
        self.digest.update(data)
        return self._out.write(data)


@contextlib.contextmanager
def _ordered(folder: Path, finals: IO[bytes], templates: Path, digest: Any) -> Iterator[Tuple[Path, str]]:
    """The file of all records and its SHA-256: FINAL_TILING records first; without any, the templates as they are."""
    if finals.tell() == 0:
        yield templates, digest.hexdigest()
        return
    finals.seek(0)
    with _staged(folder, RECORDS) as records:
        with records.open("xb") as out, templates.open("rb") as rest:
            ordered = _Digested(out)
            for source in (finals, rest):
                while piece := source.read(_COPY):
                    ordered.write(piece)
        yield records, ordered.digest.hexdigest()


def sha256_of(path: Path) -> str:
    """SHA-256 of a file in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as source:
        for piece in iter(lambda: source.read(_COPY), b""):
            digest.update(piece)
    return digest.hexdigest()


@contextlib.contextmanager
def _spool(folder: Path) -> Iterator[IO[bytes]]:
    """A nameless file on the disk of the output, so that a full disk is noticed before anything is replaced."""
    try:
        spool = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (closed below, whatever a full disk says)
    except OSError as error:
        raise AutofuseError(f"cannot write: {error.strerror}", str(folder)) from error
    try:
        yield spool
    finally:
        with contextlib.suppress(OSError):
            spool.close()


def _publish(app: App, folder: Path, records: Path, digest: str, run: LogRun, count: int) -> None:
    with _staged(folder, MANIFEST) as manifest:
        content = _manifest(app, folder, run, count, digest)
        text = json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
        with manifest.open("xb") as out:
            out.write(text.encode("utf-8", "backslashreplace"))
        # Never an old manifest beside new records: between these steps there is no manifest at all.
        with contextlib.suppress(FileNotFoundError):
            (folder / MANIFEST).unlink()
        os.replace(records, folder / RECORDS)
        os.replace(manifest, folder / MANIFEST)


@contextlib.contextmanager
def _staged(folder: Path, name: str) -> Iterator[Path]:
    """The name of a file to create beside the one it will replace; gone at the end unless it was renamed."""
    path = folder / f".{name}.{secrets.token_hex(6)}.tmp"
    try:
        yield path
    finally:
        with contextlib.suppress(FileNotFoundError):
            path.unlink()


def _manifest(app: App, folder: Path, run: LogRun, count: int, digest: str) -> Dict[str, Any]:
    own = (RECORDS, MANIFEST)
    others = sorted(entry.name for entry in folder.iterdir() if entry.name not in own and not _temporary(entry.name))
    return {
        "manifest_version": MANIFEST_VERSION,
        "schema_version": SCHEMA_VERSION,
        "tool": "autofuse",
        "tool_version": __version__,
        "generated_at_utc": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "command": app.command_line,
        "inputs": _inputs(run),
        "record_count": count,
        "artifacts": [{"path": RECORDS, "sha256": digest}],
        "other_files": others,
        "skipped": [{"path": place, "reason": reason} for place, reason in run.notices.skipped],
        "unparsed_lines": run.malformed + run.dropped_cut,
    }


def _inputs(run: LogRun) -> List[Dict[str, Any]]:
    return [
        {
            "path": stream.name if stream.name == STDIN else os.path.abspath(stream.name),
            "sha256": stream.sha256,
            "bytes": stream.bytes,
            "lines": stream.lines,
            "undecodable_bytes": stream.undecodable,
        }
        for stream in run.streams
    ]


def _temporary(name: str) -> bool:
    return name.startswith((f".{RECORDS}.", f".{MANIFEST}."))
