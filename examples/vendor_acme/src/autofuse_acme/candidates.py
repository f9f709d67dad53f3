"""`autofuse run acme-candidates`: what the tuner tried, counted from the records of the ACME parser."""

from __future__ import annotations

from typing import Dict, Optional, Set, Tuple

import click
from autofuse.cli.app import App
from autofuse.cli.options import report_options
from autofuse.report.emit import emit
from autofuse.report.model import Column, Provenance, Report, Table
from autofuse.scan.reader import read_lines
from autofuse.scan.source import Notices
from autofuse.types import InvocationBegin, TemplateId, TilingValue

from autofuse_acme.parser import parse

COLUMNS = (
    Column("Operator"),
    Column("Calls", "int", meaning="Number of times the operator was tiled"),
    Column("Candidates", "int", meaning="Different templates tried in all calls together"),
)


@click.command("acme-candidates")
@click.argument("logs", metavar="LOG...", nargs=-1, required=True)
@report_options
@click.pass_obj
def command(app: App, logs: Tuple[str, ...], output_format: Optional[str], output: Optional[str]) -> None:
    """Count the calls and candidates of each operator in the LOGs of the ACME tuner."""
    calls: Dict[str, int] = {}
    tried: Dict[str, Set[TemplateId]] = {}
    for batch in read_lines(app.host, logs, [b"ACME> "], Notices()):
        for record in parse(batch):
            if isinstance(record, InvocationBegin):
                calls[record.operator] = calls.get(record.operator, 0) + 1
            elif isinstance(record, TilingValue):
                tried.setdefault(record.operator, set()).add(record.template)
    rows = [(operator, calls.get(operator), len(tried.get(operator, ()))) for operator in {**calls, **tried}]
    if not rows:
        app.notice("no line of the ACME tuner was found")
        raise click.exceptions.Exit(1)
    table = Table("candidates", COLUMNS, rows, title="Candidates")
    emit(app, Report("Candidates", (table,), provenance=Provenance(app.command_line, logs)), output_format, output)
