"""What every log command says on standard error about input that was not read, not understood or replaced."""

from __future__ import annotations

from typing import Dict, List

from autofuse.cli.app import App

from autofuse_att_summary.reading import LogRun

__all__ = ["say_what_was_skipped"]

_SHOWN = 5


def say_what_was_skipped(app: App, run: LogRun) -> None:
    """One notice per kind of loss, each with its count and the first places."""
    for failure in run.notices.failures:
        app.warn(str(failure))
    failed = {failure.where for failure in run.notices.failures}
    skipped = [(place, reason) for place, reason in run.notices.skipped if place not in failed]
    by_reason: Dict[str, List[str]] = {}
    for place, reason in skipped:
        by_reason.setdefault(reason, []).append(place)
    for reason, places in by_reason.items():
        more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
        app.notice(f"skipped {len(places)}: {', '.join(places[:_SHOWN])}{more}: {reason}")
    if run.undecodable:
        app.notice(f"{run.undecodable} bytes are no UTF-8 and are shown as \N{REPLACEMENT CHARACTER}")
    long_lines = sum(stream.long_lines for stream in run.streams)
    if long_lines:
        app.notice(f"{long_lines} lines are too long; only their heads were read")
    if run.malformed:
        path, line = run.first_malformed or ("", 0)
        app.notice(f"{run.malformed} lines have a tiling message that does not parse (the first at {path}:{line})")
    if run.dropped_cut:
        app.notice(f"{run.dropped_cut} lines were cut in the middle of a number and are left out")
