"""Charts as SVG 1.1: `draw` turns the chart data of a report into a drawing, with the same bytes for the same data.

The svg and html reporters place the drawings; fonts, colours for dark and light, and text that never overlaps are
decided here.
"""

from autofuse_formats.charts.canvas import Drawing
from autofuse_formats.charts.draw import draw
from autofuse_formats.charts.theme import stylesheet

__all__ = ["Drawing", "draw", "stylesheet"]
