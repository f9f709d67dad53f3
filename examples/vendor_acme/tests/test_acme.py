"""The ACME plugin on its own log: the records, the same format as data, the command, the reporter and the layout."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy
import pytest
from autofuse.declarative import read_format
from autofuse.report.model import Column, Report, ReportContext, Table
from autofuse.testing import batch_of
from autofuse.types import Position, TemplateId, TilingValue
from autofuse_acme.layout import convert
from autofuse_acme.parser import parse
from autofuse_acme.prefix import read_prefix
from autofuse_acme.reporter import write

HERE = Path(__file__).resolve().parent.parent
LOG = HERE / "logs" / "acme.log"
MARKERS = [b"ACME> "]


def test_every_message_of_the_log_is_a_record():
    lines = LOG.read_bytes().splitlines()
    records = list(parse(batch_of(lines, MARKERS)))
    assert len(records) == sum(b"ACME> " in line for line in lines)
    assert {record.at.tid for record in records} == {17, 18}


def test_format_file_gives_the_same_records():
    batch = batch_of(LOG.read_bytes().splitlines(), MARKERS)
    parser = read_format(str(HERE / "acme.format.toml")).load()
    assert list(parser(batch)) == list(parse(batch))


def test_value_with_a_foreign_prefix():
    (record,) = parse(batch_of([b"7: 1.000 p1.t2 I ACME> try Add 0/1/2/3R tile_m=64"], MARKERS))
    at = Position("sample.log", 1, 1, 2)
    assert record == TilingValue("Add", at, TemplateId(0, 1, 2, 3, "R"), "tile_m", "64")


@pytest.mark.parametrize(
    "rest", ["pick Add 0/1", "cost Add 0/1/2/3 fast", "try Add 0/1/2/3 x", "boil Add", "score Add"]
)
def test_what_is_no_message_is_no_record(rest):
    assert list(parse(batch_of([b"ACME> " + rest.encode()], MARKERS))) == []


def test_prefix():
    found = read_prefix(b"svc | 1767225600.120 p4242.t17 E ")
    assert found is not None
    assert (found.pid, found.tid, found.level, found.time) == (4242, 17, "ERROR", "1767225600.120")
    assert read_prefix(b"[INFO] GE(7,app):") is None


def test_layout():
    stored = numpy.full((3, 5, 8), -1)
    for row in range(5):
        for column in range(20):
            stored[column // 8, row, column % 8] = row * 100 + column
    assert (convert(stored, (5, 20)) == numpy.arange(5)[:, None] * 100 + numpy.arange(20)).all()
    with pytest.raises(ValueError, match="needs"):
        convert(stored, (5, 40))


def test_reporter():
    table = Table("main", (Column("Operator"), Column("Result Perf", "float")), [("a b\n", 1.5), ("c", None)])
    out = io.BytesIO()
    write(Report("Sample", (table,)), out, ReportContext())
    assert out.getvalue().decode() == 'table=main Operator="a b\\n" Result_Perf=1.5\ntable=main Operator=c\n'


def test_command(autofuse_cli):
    result = autofuse_cli("run", "acme", LOG, "-f", "jsonl")
    assert result.exit_code == 0, result.stderr
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["Calls"] for row in rows if row["Operator"] == "acme_concat_3"] == [2]


def test_command_without_messages(autofuse_cli, tmp_path):
    path = tmp_path / "other.log"
    path.write_text("nothing here\n")
    result = autofuse_cli("run", "acme-candidates", path)
    assert (result.exit_code, result.stdout) == (1, "")


def test_conforms(autofuse_cli):
    result = autofuse_cli("plugins", "check", "autofuse-acme")
    assert result.exit_code == 0, result.stdout
