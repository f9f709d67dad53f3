"""From the locations a user names to the streams to read: asks the log sources, drops what is named twice, sorts.

What a location is (file, folder, archive, pattern) is left to the sources, which are plugins.
"""

from __future__ import annotations

import os
from typing import Dict, Iterable, List, Sequence, Set, Tuple

from autofuse.errors import AutofuseError
from autofuse.host import Host
from autofuse.scan.source import ByteStream, LogSource, Notices

__all__ = ["arrange", "open_streams"]


def open_streams(host: Host, locations: Sequence[str], notices: Notices) -> List[ByteStream]:
    """The streams of all locations, each process in one piece and in time order.

    A location that cannot be read goes into `notices.failures` while another one can; else its AutofuseError is raised.
    """
    sources = _sources(host)
    found: List[ByteStream] = []
    failed: List[AutofuseError] = []
    for location in dict.fromkeys(locations):
        try:
            found.extend(_source_of(sources, location).streams(location, notices))
        except AutofuseError as error:
            failed.append(error)
    if failed and not found:
        raise failed[0]
    for failure in failed:
        notices.fail(failure)
    return arrange(found)


def arrange(streams: Iterable[ByteStream]) -> List[ByteStream]:
    """The streams without repeated identities, grouped by process as first met, sorted by `order` within a process."""
    processes: Dict[Tuple[str, ...], List[ByteStream]] = {}
    seen: Set[Tuple[object, ...]] = set()
    for stream in streams:
        if stream.identity is not None:
            if stream.identity in seen:
                continue
            seen.add(stream.identity)
        processes.setdefault(stream.process, []).append(stream)
    return [stream for parts in processes.values() for stream in sorted(parts, key=lambda part: part.order)]


def _sources(host: Host) -> List[LogSource]:
    specs = sorted(host.specs("autofuse_log_sources").values(), key=lambda spec: host.owner(spec).built_in)
    sources: List[LogSource] = [host.load(spec) for spec in specs]
    if not sources:
        raise AutofuseError("no log source is installed", hint="install autofuse-formats, or see `autofuse plugins`")
    return sources


def _source_of(sources: Sequence[LogSource], location: str) -> LogSource:
    for source in sources:
        if source.claims(location):
            return source
    if os.path.lexists(location):
        raise AutofuseError("no log source can open this", location, "see `autofuse plugins` for the installed sources")
    raise AutofuseError(_missing(location), location, "check the path; `-` reads standard input")


def _missing(location: str) -> str:
    try:
        os.lstat(location)
    except (FileNotFoundError, NotADirectoryError):
        return "no such file or folder"
    except (OSError, ValueError) as error:
        return f"cannot be reached: {getattr(error, 'strerror', None) or error}"
    return "no such file or folder"
