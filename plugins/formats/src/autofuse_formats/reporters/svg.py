"""svg: all charts and figures of a report in one file, one below the other; the same bytes for the same report."""

from __future__ import annotations

import re
from typing import BinaryIO, List, Tuple
from xml.etree import ElementTree

from autofuse.errors import EXIT_BROKEN, AutofuseError
from autofuse.report.model import Figure, Report, ReportContext

from autofuse_formats.charts import Drawing, draw, stylesheet
from autofuse_formats.charts.canvas import number
from autofuse_formats.charts.frame import WIDTH, Frame
from autofuse_formats.charts.text import escaped
from autofuse_formats.reporters.cells import encode

__all__ = ["figure_svg", "write"]

_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
_PROLOGUE = re.compile(r"\A\ufeff?\s*(?:<\?xml.*?\?>\s*|<!DOCTYPE[^>\[]*>\s*|<!--.*?-->\s*)*", re.DOTALL)
_SPACE = 12


def write(report: Report, out: BinaryIO, context: ReportContext) -> None:
    """Writes one `<svg>`: a figure that is alone as it is, else everything stacked; a message when there is nothing."""
    drawings = [draw(chart, context.lang) for chart in report.charts]
    figures = [figure_svg(figure) for figure in report.figures]
    if not drawings and len(figures) == 1:
        out.write(encode(_DECLARATION + figures[0][0] + "\n"))
        return
    out.write(encode(_DECLARATION + _stacked(report, drawings, figures, context) + "\n"))


def figure_svg(figure: Figure) -> Tuple[str, float, float]:
    """The `<svg>` element of a figure and its size; AutofuseError (exit code 3) when it is none."""
    text = _PROLOGUE.sub("", figure.svg()).rstrip()
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise AutofuseError(f"figure {figure.name!r} is no XML: {error}", exit_code=EXIT_BROKEN) from error
    if root.tag.rpartition("}")[2] != "svg":
        raise AutofuseError(f"figure {figure.name!r} is no <svg> element", exit_code=EXIT_BROKEN)
    return text, *_size(root)


def _stacked(
    report: Report, drawings: List[Drawing], figures: List[Tuple[str, float, float]], context: ReportContext
) -> str:
    from autofuse.report.model import Chart

    if not drawings and not figures:
        drawings = [Frame(Chart("", "bar", report.title, (), ()), context.lang).empty()]
    width = max([float(WIDTH)] + [figure[1] for figure in figures])
    # Only charts get the fonts of charts: a figure was measured with its own.
    contents = [(' class="af-chart"', drawing.body, float(drawing.height)) for drawing in drawings]
    contents += [("", text, height) for text, _, height in figures]
    parts: List[str] = []
    y = 0.0
    for look, content, height in contents:
        parts.append(f'<g{look} transform="translate(0 {number(y)})">{content}</g>')
        y += height + _SPACE
    size = f'width="{number(width)}" height="{number(y - _SPACE)}" viewBox="0 0 {number(width)} {number(y - _SPACE)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" version="1.1" class="af-page" {size}>'
        f'<title>{escaped(report.title)}</title><style type="text/css">{stylesheet()}</style>'
        f'<rect class="af-bg" x="0" y="0" width="{number(width)}" height="{number(y - _SPACE)}"/>'
        f"{''.join(parts)}</svg>"
    )


def _size(root: ElementTree.Element) -> Tuple[float, float]:
    box = [float(part) for part in re.findall(r"[-+0-9.eE]+", root.get("viewBox", ""))]
    width = _length(root.get("width")) or (box[2] if len(box) == 4 else float(WIDTH))
    height = _length(root.get("height")) or (box[3] if len(box) == 4 else WIDTH / 2)
    return width, height


def _length(text: str | None) -> float:
    match = re.fullmatch(r"\s*([0-9.]+)(?:px)?\s*", text or "")
    return float(match[1]) if match else 0.0
