"""Archives: members in time order, limits, names that lead out, damage of each kind; what can be read is read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import sys
import tarfile
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO, Callable, Dict, List, Optional, Tuple

import pytest
from autofuse.errors import AutofuseError
from autofuse.host import Host
from autofuse.scan.reader import read_lines
from autofuse.scan.source import Notices, StreamStats
from autofuse_formats.sources import paths
from autofuse_formats.sources.limits import Limits
from autofuse_formats.sources.streams import Decompressed
from hypothesis import given, settings
from hypothesis import strategies as st

TARS = ["tar", "tar.gz", "tar.bz2", "tar.xz"]
ARCHIVES = [*TARS, "zip", "zip.stored"]


def read(*locations: object) -> Tuple[List[Tuple[str, str]], Dict[str, str], List[StreamStats]]:
    """(file name or member, message) of each line, name → reason of what was skipped, statistics."""
    notices = Notices()
    reader = read_lines(Host(third_party=False), [str(one) for one in locations], [b"[PROF]"], notices)
    lines = [(shown(line.path), line.text.replace("[PROF]", "")) for batch in reader for line in batch]
    return lines, {shown(location): reason for location, reason in notices.skipped}, reader.streams


def shown(name: str) -> str:
    archive, _, member = name.partition("!")
    return member or os.path.basename(archive)


def pack(path: Path, files: Dict[str, bytes]) -> Path:
    """An archive of the kind that the suffix of `path` names."""
    name = path.name
    if ".zip" in name:
        method = zipfile.ZIP_STORED if name.endswith("stored") else zipfile.ZIP_DEFLATED
        with zipfile.ZipFile(path, "w", method) as archive:
            for member, data in files.items():
                archive.writestr(member, data)
        return path
    kinds: Dict[str, Dict[str, Any]] = {
        ".gz": {"mode": "w:gz"},
        ".bz2": {"mode": "w:bz2"},
        ".xz": {"mode": "w:xz", "preset": 0},
    }
    with tarfile.open(path, **kinds.get(path.suffix, {"mode": "w"})) as tar:
        for member, data in files.items():
            info = tarfile.TarInfo(member)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


SAMPLE = {
    "log/debug/plog/plog-7_20260101000000100.log": b"[PROF]1\n",
    "log/debug/plog/plog-7_20260101000000300.log": b"[PROF]3\n",
    "log/run/plog/plog-7_20260101000000200.log": b"[PROF]2\n",
    "x.log": b"[PROF]c\n" * 3000,
    "x.log.1": b"[PROF]b\n" * 3000,
    "b.log.1.gz": gzip.compress(b"[PROF]z\n"),
    "lib.so": b"\x7fELF",
    "empty.log": b"",
    "inner.zip": b"PK\x03\x04",
}


@pytest.mark.parametrize("kind", ARCHIVES)
def test_members_are_read_in_time_order(tmp_path: Path, kind: str) -> None:
    path = pack(tmp_path / f"a.{kind}", SAMPLE)
    lines, skipped, streams = read(path)
    assert [text for _, text in lines if text.isdigit()] == ["1", "2", "3"]
    assert [text for _, text in lines if text in "bc"] == ["b"] * 3000 + ["c"] * 3000
    assert ("b.log.1.gz", "z") in lines
    assert skipped == {
        "lib.so": "binary: an ELF program or library",
        "empty.log": "empty file",
        "inner.zip": "an archive inside an archive (unpack it first)",
    }
    assert {stats.pid for stats in streams} == {7, None}
    assert len({stats.process for stats in streams}) == 3
    assert not any(stats.damage for stats in streams)


@pytest.mark.parametrize("kind", ARCHIVES)
def test_archives_in_a_folder_and_under_another_name(tmp_path: Path, kind: str) -> None:
    path = pack(tmp_path / f"a.{kind}", {"x.log": b"[PROF]x\n"})
    path.rename(tmp_path / "attachment")
    assert read(tmp_path)[0] == [("x.log", "x")]
    assert read(tmp_path / "*")[0] == [("x.log", "x")]
    assert read(tmp_path / "attachment", tmp_path)[0] == [("x.log", "x")]


@pytest.mark.parametrize("kind", ARCHIVES)
def test_an_archive_on_standard_input(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = pack(tmp_path / f"a.{kind}", SAMPLE).read_bytes()

    class Stdin:
        buffer = io.BytesIO(data)

    monkeypatch.setattr(sys, "stdin", Stdin())
    lines, _, streams = read("-")
    assert [text for _, text in lines if text.isdigit()] == ["1", "2", "3"]
    assert streams[0].name.startswith("-!")


def test_a_compressed_archive_in_the_right_order_needs_no_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> BinaryIO:
        raise OSError("no temporary file")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    files = {f"{number}.log": b"[PROF]%d\n" % number for number in range(5)}
    assert len(read(pack(tmp_path / "a.tar.gz", files))[0]) == 5


def test_a_full_disk_for_the_temporary_file_is_a_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.FileIO):
        def write(self, data: Any) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda: Full(tmp_path / "spool", "w+"))
    lines, skipped, _ = read(pack(tmp_path / "a.tar.gz", {"x.log": b"[PROF]2\n", "x.log.1": b"[PROF]1\n"}))
    assert lines == []
    assert {"No space left" in reason for reason in skipped.values()} == {True}
    assert set(skipped) == {"x.log", "x.log.1"}


# --- hostile archives -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ARCHIVES)
def test_names_that_lead_out_are_not_read(tmp_path: Path, kind: str) -> None:
    names = ["/etc/x.log", "../x.log", "a/../../x.log", "C:\\x.log", "..\\x.log", "ok..log", "a/..b/x.log"]
    path = pack(tmp_path / f"a.{kind}", dict.fromkeys(names, b"[PROF]x\n"))
    lines, skipped, _ = read(path)
    assert [name for name, _ in lines] == ["ok..log", "a/..b/x.log"]
    assert list(skipped.values()) == ["its name leads out of the archive"] * len(skipped)
    assert len(skipped) == 5


def test_links_devices_and_sparse_members_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as tar:
        for name, kind in (
            ("l", tarfile.SYMTYPE),
            ("h", tarfile.LNKTYPE),
            ("c", tarfile.CHRTYPE),
            ("p", tarfile.FIFOTYPE),
        ):
            info = tarfile.TarInfo(name)
            info.type = kind
            info.linkname = "/etc/passwd"
            tar.addfile(info)
        tar.addfile(tarfile.TarInfo("folder/empty.log"))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("x.log", "[PROF]x\n")
    lines, skipped, _ = read(path, tmp_path / "a.zip")
    assert lines == [("x.log", "x")]
    assert skipped.pop("folder/empty.log") == "empty file"
    assert skipped.pop("link") == "a link or special file"
    assert set(skipped) == set("lhcp")
    assert set(skipped.values()) == {"a link, sparse or special file"}


def test_a_bomb_ends_with_a_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    with open(tmp_path / "bomb.gz", "wb") as out:
        out.write(packer.compress(b"[PROF]boom\n" + b"." * 1000))
        for _ in range(300):
            out.write(packer.compress(b"A" * (1 << 20)))
        out.write(packer.flush())
    (tmp_path / "x.log").write_bytes(b"[PROF]x\n")
    monkeypatch.setattr(paths, "LIMITS", Limits(ratio=100, ratio_from=64 << 20))
    lines, skipped, streams = read(tmp_path)
    assert lines == [("bomb.gz", "boom"), ("x.log", "x")]
    assert "it expands to more than 100 times its size, like an archive bomb" in skipped["bomb.gz"]
    assert streams[0].bytes < 200 << 20


@pytest.mark.parametrize("kind", ["tar.gz", "tar.xz", "zip"])
def test_an_archive_bomb_is_left_and_the_rest_is_read(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "LIMITS", Limits(ratio=100, ratio_from=4 << 20))
    pack(tmp_path / f"bomb.{kind}", {f"{number}.log": b"[PROF]boom " + b"A" * (3 << 20) for number in range(9)})
    (tmp_path / "x.log").write_bytes(b"[PROF]x\n")
    lines, skipped, streams = read(tmp_path)
    assert ("x.log", "x") in lines
    assert "like an archive bomb" in skipped[f"bomb.{kind}"]
    assert sum(stats.bytes for stats in streams) < 8 << 20
    if kind == "zip":
        with pytest.raises(AutofuseError, match="like an archive bomb"):
            read(tmp_path / f"bomb.{kind}")


def test_a_bomb_of_small_compressed_members_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "LIMITS", Limits(ratio=100, ratio_from=4 << 20))
    member = gzip.compress(b"[PROF]boom\n" + b"A" * (1 << 20))
    path = pack(tmp_path / "a.tar", {f"{number}.gz": member for number in range(20)})
    lines, skipped, streams = read(path)
    assert 3 <= len(lines) <= 6
    assert len(skipped) >= 14
    assert sum(stats.bytes for stats in streams) < 6 << 20


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "zip"])
def test_no_more_members_than_the_limit_are_looked_at(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "LIMITS", Limits(members=3))
    path = pack(tmp_path / f"a.{kind}", {f"{number}.log": b"[PROF]x\n" for number in range(10)})
    lines, skipped, _ = read(path)
    assert [name for name, _ in lines] == ["0.log", "1.log", "2.log"]
    assert skipped == {path.name: "only the first 3 members were looked at"}


def test_a_zip_directory_of_absurd_size_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "LIMITS", Limits(directory=1000))
    path = pack(tmp_path / "a.zip", {f"{number:060}.log": b"[PROF]x\n" for number in range(30)})
    with pytest.raises(AutofuseError, match="its zip directory is too large"):
        read(path)


def test_a_tar_header_of_absurd_size_is_not_taken_into_memory(tmp_path: Path) -> None:
    header = tarfile.TarInfo("@LongLink")
    header.type = tarfile.GNUTYPE_LONGNAME
    header.size = 1 << 40
    good = tarfile.TarInfo("x.log")
    good.size = 8
    data = good.tobuf() + b"[PROF]x\n".ljust(512, b"\0") + header.tobuf(tarfile.GNU_FORMAT) + bytes(2048)
    (tmp_path / "a.tar").write_bytes(data)
    lines, skipped, _ = read(tmp_path / "a.tar")
    assert lines == [("x.log", "x")]
    assert "a header of 1099511627776 bytes" in skipped["a.tar"]


def test_encrypted_and_unknown_zip_members_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.log", "[PROF]x\n")
        archive.writestr("y.log", "[PROF]y\n", zipfile.ZIP_LZMA)
        archive.writestr("z.log", "[PROF]z\n", zipfile.ZIP_BZIP2)
        archive.writestr("secret.log", "[PROF]s\n")
        archive.infolist()[-1].flag_bits |= 1
    lines, skipped, _ = read(path)
    assert lines == [("x.log", "x"), ("z.log", "z")]
    assert skipped == {
        "y.log": "compressed by method 14 (unpack it first)",
        "secret.log": "encrypted (unpack it first)",
    }


def test_a_later_member_of_the_same_name_replaces_the_first(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as tar:
        for text in (b"[PROF]old\n", b"[PROF]new\n"):
            info = tarfile.TarInfo("x.log")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text))
    lines, skipped, _ = read(path)
    assert lines == [("x.log", "new")]
    assert skipped == {"x.log": "a later member has the same name and replaces it"}


# --- damage -----------------------------------------------------------------------------------------------------------


def log_of(lines: int, seed: int = 5) -> bytes:
    chance = random.Random(seed)
    return b"".join(b"[PROF]%d %s\n" % (number, b"%x" % chance.getrandbits(100)) for number in range(lines))


PACKERS: Dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lambda data: lzma.compress(data, preset=0),
}


@pytest.mark.parametrize("codec", PACKERS)
def test_a_cut_compressed_file_gives_what_came_before_the_cut(tmp_path: Path, codec: str) -> None:
    data = log_of(60_000)
    packed = PACKERS[codec](data)
    path = tmp_path / f"x.log.{codec}"
    path.write_bytes(packed[: len(packed) * 6 // 10])
    lines, skipped, streams = read(path)
    assert len(lines) > 20_000
    assert [text.split()[0] for _, text in lines] == [str(number) for number in range(len(lines))]
    assert skipped[path.name].endswith("the rest is lost: the compressed data ends in the middle")
    assert streams[0].damage == "the compressed data ends in the middle"


@pytest.mark.parametrize("size", [200, 60_000])
def test_damage_in_the_middle_keeps_what_is_before_it(tmp_path: Path, size: int) -> None:
    data = log_of(size)
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    first = packer.compress(data[: len(data) // 2]) + packer.flush(zlib.Z_FULL_FLUSH)
    # A block of the reserved type cannot be decoded: the damage is exactly at half of the data.
    (tmp_path / "x.gz").write_bytes(first + b"\x07" + packer.compress(data[len(data) // 2 :]) + packer.flush())
    lines, skipped, streams = read(tmp_path / "x.gz")
    assert len(data) // 2 - 1 <= streams[0].bytes <= len(data) // 2
    assert "damaged gz data" in skipped["x.gz"]
    assert len(lines) >= data[: len(data) // 2].count(b"\n")


def test_a_wrong_checksum_is_a_notice(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(b"[PROF]x\n"))
    packed[-8] ^= 1
    (tmp_path / "x.gz").write_bytes(packed)
    lines, skipped, _ = read(tmp_path / "x.gz")
    assert lines == [("x.gz", "x")]
    assert "incorrect data check" in skipped["x.gz"]


@pytest.mark.parametrize("kind", TARS)
def test_a_cut_tar_gives_the_members_before_the_cut(tmp_path: Path, kind: str) -> None:
    path = pack(tmp_path / f"a.{kind}", {f"{number:02}.log": log_of(3000, number) for number in range(20)})
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 6 // 10])
    lines, skipped, streams = read(path)
    whole = [stats.name for stats in streams if stats.damage is None]
    assert len(whole) >= 3
    assert len(lines) >= 3000 * len(whole)
    assert path.name in skipped


def test_a_damaged_tar_header_is_not_taken_for_the_end(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.tar", {f"{number}.log": b"[PROF]%d\n" % number for number in range(5)})
    data = bytearray(path.read_bytes())
    data[2048 + 150] ^= 0xFF
    path.write_bytes(data)
    lines, skipped, _ = read(path)
    assert [text for _, text in lines] == ["0", "1"]
    assert "the rest after 2 members is lost" in skipped["a.tar"]


@pytest.mark.parametrize("kind", ["zip", "zip.stored"])
def test_a_damaged_zip_member_costs_only_itself(tmp_path: Path, kind: str) -> None:
    path = pack(tmp_path / f"a.{kind}", {f"{number}.log": log_of(3000) for number in range(3)})
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        second = archive.infolist()[1]
    middle = second.header_offset + 40 + second.compress_size // 2
    data[middle : middle + 40] = os.urandom(40)
    path.write_bytes(data)
    lines, skipped, _ = read(path)
    assert [name for name, _ in lines].count("0.log") == 3000
    assert [name for name, _ in lines].count("2.log") == 3000
    assert [name for name, _ in lines].count("1.log") > 1000
    assert set(skipped) == {"1.log"}


def test_a_cut_zip_gives_the_members_before_the_cut(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.zip", {f"{number}.log": log_of(3000) for number in range(9)})
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 6 // 10])
    lines, skipped, _ = read(path)
    assert [name for name, _ in lines].count("4.log") == 3000
    assert skipped["a.zip"].startswith("damaged zip archive, only what is before the damage was read")


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(ARCHIVES), st.integers(0, 1 << 30), st.binary(min_size=1, max_size=40), st.booleans())
def test_no_damage_ends_in_an_exception(kind: str, place: int, bytes_there: bytes, cut: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = pack(Path(folder) / f"a.{kind}", SAMPLE)
        data = bytearray(path.read_bytes())
        at = place % len(data)
        data[at : at + len(bytes_there)] = bytes_there
        path.write_bytes(data[:at] if cut else data)
        (Path(folder) / "x.log").write_bytes(b"[PROF]whole\n")
        lines, _, _ = read(path, Path(folder) / "x.log")
        assert ("x.log", "whole") in lines


# --- decompression by itself ------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["gz", "bz2", "xz"]),
    st.lists(st.binary(max_size=3000), min_size=1, max_size=4),
    st.integers(1, 5000),
)
def test_decompression_gives_the_bytes_whatever_the_size_of_the_reads(
    codec: str, parts: List[bytes], size: int
) -> None:
    packed = b"".join(PACKERS[codec](part) for part in parts)
    stream = Decompressed(io.BytesIO(packed), codec)
    pieces: List[bytes] = []
    while True:
        piece: Optional[bytes] = stream.read(size)
        if not piece:
            break
        pieces.append(piece)
    assert b"".join(pieces) == b"".join(parts)


def test_the_xz_decoder_may_not_take_all_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.xz").write_bytes(lzma.compress(b"[PROF]x\n"))
    assert read(tmp_path / "x.xz")[0] == [("x.xz", "x")]
    monkeypatch.setattr(paths, "LIMITS", Limits(memory=1 << 18))
    with pytest.raises(AutofuseError, match=r"[Mm]emory"):
        read(tmp_path / "x.xz")


def test_members_of_a_compressed_tar_can_be_open_at_once(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.tar.gz", {"a.log": log_of(2000), "b.log": log_of(1000)})
    streams = list(paths.file_streams(str(path), Notices(), named=True))
    with streams[0].open() as first, streams[1].open() as second:
        assert first.read(10) == second.read(10) == log_of(1)[:10]
        assert (first.read(), second.read()) == (log_of(2000)[10:], log_of(1000)[10:])
