"""What zip and tar have in common: which members of an archive are read, under which name, and for which process."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, List, Tuple

from autofuse.scan.locations import arrange
from autofuse.scan.source import ByteStream, Notices

from autofuse_formats.sources.content import Content, Look, decompressing
from autofuse_formats.sources.limits import Budget
from autofuse_formats.sources.naming import place_of
from autofuse_formats.sources.sniff import ARCHIVES
from autofuse_formats.sources.streams import Opener

__all__ = ["Member", "accepted", "streams_of_members"]


@dataclass(frozen=True)
class Member:
    """A file of an archive whose beginning was looked at."""

    name: str
    size: int
    at: int
    """Where it is in the archive; tells members apart."""
    open: Opener
    seen: Look


def accepted(content: Content, name: str, notices: Notices) -> bool:
    """Whether the name is one of a member; a name that leads out of the archive is counted as not read."""
    parts = re.split(r"[/\\]", name)
    escapes = not parts[0] or parts[0].endswith(":") or ".." in parts
    if escapes:
        notices.skip(f"{content.name}!{name}", "its name leads out of the archive")
    return not escapes


def streams_of_members(content: Content, members: Iterable[Member], notices: Notices) -> List[ByteStream]:
    """The streams of the members that are text, plain or compressed once, in the order in which they are to be read."""
    last: Dict[str, Member] = {}
    for member in members:
        if member.name in last:
            notices.skip(f"{content.name}!{member.name}", "a later member has the same name and replaces it")
        last[member.name] = member
    names = {f"{content.name}!/{name}" for name in last}
    budget = Budget(content.size, content.limits)
    streams = []
    for member in last.values():
        reason = _refused(member.seen)
        if reason:
            notices.skip(f"{content.name}!{member.name}", reason)
        else:
            streams.append(_stream(content, member, names.__contains__, budget))
    return arrange(streams)


def _refused(seen: Look) -> str:
    nested = "an archive inside an archive (unpack it first)"
    return nested if seen.kind.name in ARCHIVES else seen.kind.reason


def _stream(content: Content, member: Member, exists: Callable[[str], bool], budget: Budget) -> ByteStream:
    place = place_of(f"{content.name}!/{member.name}", exists)
    opened = member.open
    if member.seen.codec:
        opened = decompressing(opened, member.seen.codec, budget, content.limits)
    identity: Tuple[Any, ...] = (*content.identity, member.at)
    name = f"{content.name}!{member.name}"
    return ByteStream(name, opened, place.process, place.pid, member.size, False, place.order, identity)
