"""Tells from the first bytes of a file whether it is text, compressed, an archive or something binary."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Optional, Tuple

__all__ = ["ARCHIVES", "COMPRESSIONS", "HEAD", "TEXT", "Kind", "has_text", "kind_of"]

HEAD = 8192
"""Bytes that are looked at."""

COMPRESSIONS = ("gz", "bz2", "xz")
ARCHIVES = ("zip", "tar")


@dataclass(frozen=True)
class Kind:
    """`name` is `text`, `empty`, `binary`, `no text`, one of COMPRESSIONS or of ARCHIVES."""

    name: str
    reason: str = ""
    """Why it is not read, where it is not."""


TEXT = Kind("text")

_SIGNATURES: Tuple[Tuple[bytes, str], ...] = (
    (b"\x7fELF", "an ELF program or library"),
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"\x93NUMPY", "an npy array"),
    (b"%PDF-", "a PDF document"),
    (b"!<arch>\n", "a static library"),
    (b"BC\xc0\xde", "LLVM bitcode"),
    (b"\xca\xfe\xba\xbe", "Java or Mach-O code"),
    (b"\xce\xfa\xed\xfe", "Mach-O code"),
    (b"\xcf\xfa\xed\xfe", "Mach-O code"),
    (b"MZ\x90\x00", "a Windows program"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"PAR1", "a Parquet file"),
    (b"\x28\xb5\x2f\xfd", "zstd data (unpack it first)"),
    (b"\x04\x22\x4d\x18", "lz4 data (unpack it first)"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive (unpack it first)"),
    (b"Rar!\x1a\x07", "a rar archive (unpack it first)"),
    (b"\xff\xfe", "UTF-16 text (convert it to UTF-8)"),
    (b"\xfe\xff", "UTF-16 text (convert it to UTF-8)"),
    *((b"\x80" + bytes([protocol]), "a Python pickle") for protocol in range(2, 6)),
)

_NOT_LOG_ZIPS = {
    ".apk": "an Android package",
    ".docx": "a Word document",
    ".jar": "a Java archive",
    ".npz": "an npz archive",
    ".odt": "a text document",
    ".pptx": "a presentation",
    ".pt": "a PyTorch file",
    ".pth": "a PyTorch file",
    ".whl": "a Python wheel",
    ".xlsx": "a workbook",
}
"""Zip files by another name; their members are no logs."""


def kind_of(head: bytes, name: str) -> Kind:
    """The kind of the file `name` that begins with `head`; give HEAD bytes, or all there are."""
    if not head:
        return Kind("empty", "empty file")
    packed = _packed(head, name)
    if packed:
        return packed
    for signature, what in _SIGNATURES:
        if head.startswith(signature):
            return Kind("binary", f"binary: {what}")
    return TEXT if has_text(head) else Kind("no text", "binary: no text at its beginning")


def _packed(head: bytes, name: str) -> Optional[Kind]:
    suffix = os.path.splitext(name)[1].lower()
    if head.startswith(b"\x1f\x8b\x08"):
        return Kind("gz")
    # "BZh", the block size, then the magic of a block or of the end of the stream.
    if head.startswith(b"BZh") and head[4:10] in (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"):
        return Kind("bz2")
    if head.startswith(b"\xfd7zXZ\x00") or (suffix == ".lzma" and head.startswith(b"\x5d\x00")):
        return Kind("xz")
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        other = _NOT_LOG_ZIPS.get(suffix)
        return Kind("binary", f"binary: {other}") if other else Kind("zip")
    if head[257:262] == b"ustar" or (suffix == ".tar" and len(head) >= 512 and head[156:157] in b"\x000125"):
        return Kind("tar")
    return None


_CONTROLS = bytes(set(range(32)) - set(b"\0\b\t\n\v\f\r\x1b")) + b"\x7f"


def has_text(data: bytes) -> bool:
    """Whether the bytes look like a log, in UTF-8 or GB18030, with or without NULs and terminal sequences in it."""
    shown = data.translate(None, b"\0")
    # Logs hold NULs where a line was padded or a file copied and cut; raw tensors are mostly NULs.
    if len(shown) * 4 < len(data):
        return False
    if len(shown) - len(shown.translate(None, _CONTROLS)) > 0.02 * len(shown):
        return False
    lost = min(
        len(shown) - len(shown.decode("utf-8", "ignore").encode("utf-8")),
        len(shown) - len(shown.decode("gb18030", "ignore").encode("gb18030")),
    )
    return lost <= 4 + 0.05 * len(shown)
