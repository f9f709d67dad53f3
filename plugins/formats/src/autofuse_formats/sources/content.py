"""From one file, named or found in a folder or archive, to its streams: looks at its first bytes and picks the reader.

Where the file comes from is left to the sources; zip and tar are taken apart in their own modules.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, BinaryIO, Callable, Iterator, Optional, Tuple, cast

from autofuse.errors import AutofuseError
from autofuse.scan.source import ByteStream, Notices

from autofuse_formats.sources.limits import LIMITS, Budget, Limits
from autofuse_formats.sources.naming import Place
from autofuse_formats.sources.sniff import ARCHIVES, COMPRESSIONS, HEAD, TEXT, Kind, has_text, kind_of
from autofuse_formats.sources.streams import Decompressed, Opener, Prefixed, read_head

__all__ = ["Content", "Look", "content_streams", "decompressing", "look", "refusal"]


@dataclass(frozen=True)
class Content:
    """A file that can be opened more than once and sought in."""

    name: str
    open: Opener
    size: int
    place: Place
    identity: Tuple[Any, ...]
    named: bool = False
    """Whether the user named it: then it is read unless that makes no sense, and what cannot be read is an error."""
    once: bool = False
    limits: Limits = LIMITS


@dataclass(frozen=True)
class Look:
    """What the first bytes say."""

    kind: Kind
    """Of the file, or of what it compresses."""
    codec: str = ""
    """How it is compressed; "" when it is not."""

    @property
    def readable(self) -> bool:
        """Whether it is text."""
        return self.kind.name == "text"


def look(name: str, opened: Callable[[], Any], limits: Limits = LIMITS, once: bool = False) -> Look:
    """Looks at the beginning of a file, and of what it compresses; with `once` it cannot be opened again."""
    with opened() as source:
        head = read_head(source, HEAD)
        kind = kind_of(head, name)
        if kind.name not in COMPRESSIONS:
            return Look(kind)
        inside = Decompressed(Prefixed(head, source), kind.name, None if once else opened, limits=limits)
        head = read_head(inside, HEAD)
        if not head and inside.damage:
            # What cannot be looked at twice may still hold text before the damage.
            return Look(TEXT if once else Kind("binary", inside.damage), kind.name)
        return Look(kind_of(head, name.rpartition(".")[0]), kind.name)


def decompressing(opened: Opener, codec: str, budget: Optional[Budget], limits: Limits) -> Opener:
    """An opener for what `codec` compresses."""
    return lambda: cast(BinaryIO, Decompressed(opened(), codec, opened, budget, limits))


def content_streams(content: Content, notices: Notices) -> Iterator[ByteStream]:
    """The streams of the file: itself, or the members of an archive. What is not read goes into `notices`.

    AutofuseError when a named file is no log.
    """
    seen = look(content.name, content.open, content.limits)
    opened = content.open
    if seen.codec:
        opened = decompressing(opened, seen.codec, Budget(content.size, content.limits), content.limits)
    if seen.kind.name in ARCHIVES and not (seen.codec and seen.kind.name == "zip"):
        members = importlib.import_module(f"autofuse_formats.sources.{seen.kind.name}_members")
        yield from members.member_streams(content, seen.codec, notices)
        return
    reason = _refused(content, seen)
    if reason and (not content.named or seen.kind.name not in ("empty", "no text")):
        refusal(content, reason, notices)
        return
    if reason:
        notices.skip(content.name, reason if seen.kind.name == "empty" else "looks binary; read all the same")
    place = content.place
    yield ByteStream(
        content.name, opened, place.process, place.pid, content.size, content.once, place.order, content.identity
    )


def refusal(content: Content, reason: str, notices: Notices) -> None:
    """Counts a file that was found as not read; AutofuseError for one that was named."""
    if content.named:
        raise AutofuseError(f"not read: {reason}", content.name, "name a text log, or an archive of logs")
    notices.skip(content.name, reason)


def _refused(content: Content, seen: Look) -> str:
    if seen.kind.name in ARCHIVES:
        return "an archive inside an archive (unpack it first)"
    if seen.kind.name == "no text" and not seen.codec and _text_further_on(content):
        return ""
    return seen.kind.reason


def _text_further_on(content: Content) -> bool:
    """A log that was cut to nothing while a program went on writing begins with a hole of NULs."""
    beginning, *others = (_sample(content, part) for part in range(4))
    return not beginning and any(sample and has_text(sample) for sample in others)


def _sample(content: Content, third: int) -> bytes:
    with content.open() as source:
        source.seek(max(0, content.size * third // 3 - HEAD))
        return read_head(source, HEAD).strip(b"\0")
