"""A canvas that collects the elements of one drawing; every text is given the room it must stay in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional, Tuple

from autofuse_formats.charts.text import escaped, is_measured, shortened, text_width, whole

__all__ = ["Canvas", "Drawing", "number"]


@dataclass(frozen=True)
class Drawing:
    """A finished drawing: its size in pixels and the elements of its `<svg>`."""

    width: int
    height: int
    body: str

    def element(self, style: str = "", title: str = "") -> str:
        """A complete `<svg>`; with `style` it stands on its own, without it the page has the stylesheet."""
        size = f'width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}"'
        head = f"<title>{escaped(title)}</title>" if title else ""
        sheet = f'<style type="text/css">{style}</style>' if style else ""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" version="1.1" class="af-chart" {size}>'
            f"{head}{sheet}{self.body}</svg>"
        )


class Canvas:
    """Elements in the order they are painted; coordinates in pixels from the top left."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._elements: List[str] = []

    def finish(self, height: float) -> Drawing:
        """The drawing, `height` pixels high, on its background."""
        whole_height = int(height + 0.999)
        ground = f'<rect class="af-bg" x="0" y="0" width="{self.width}" height="{whole_height}"/>'
        return Drawing(self.width, whole_height, ground + "".join(self._elements))

    def rect(
        self, x: float, y: float, width: float, height: float, cls: str = "", fill: str = "", title: str = ""
    ) -> None:
        """A filled rectangle; one without area is left out."""
        if width <= 0 or height <= 0:
            return
        look = f' class="{cls}"' if cls else ""
        look += f' fill="{fill}"' if fill else ""
        place = f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'
        self._add("rect", f"{look} {place}", title)

    def line(self, x1: float, y1: float, x2: float, y2: float, cls: str) -> None:
        """A straight line."""
        ends = f'x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"'
        self._add("line", f' class="{cls}" {ends}')

    def polyline(self, points: List[Tuple[float, float]], cls: str) -> None:
        """An open line through the points."""
        path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self._add("polyline", f' class="{cls}" points="{path}"')

    def circle(self, x: float, y: float, radius: float, cls: str, title: str = "") -> None:
        """A filled circle."""
        self._add("circle", f' class="{cls}" cx="{number(x)}" cy="{number(y)}" r="{number(radius)}"', title)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        room: float,
        cls: str = "af-ink",
        *,
        anchor: str = "start",
        size: int = 12,
        bold: bool = False,
        fill: str = "",
        vertical: bool = False,
        title: Optional[str] = None,
    ) -> float:
        """One line of text with its baseline at `y`, shortened to `room` pixels; returns its width.

        A shortened text gets a `<title>` that holds the whole; where not even a few letters fit there is none.
        `vertical` turns it to run upwards.
        """
        shown, cut = shortened(text, room, size, bold)
        if cut and room < 2 * size:
            return 0.0
        width = text_width(shown, size, bold)
        look = f' class="{cls}{" af-bold" if bold else ""}"' if cls or bold else ""
        look += f' fill="{fill}"' if fill else ""
        place = f'x="{number(x)}" y="{number(y)}" font-size="{size}"'
        if anchor != "start":
            place += f' text-anchor="{anchor}"'
        if vertical:
            place += f' transform="rotate(-90 {number(x)} {number(y)})"'
        if not is_measured(shown):
            # Glyphs of other scripts may be wider than estimated: the reader's program fits them.
            place += f' textLength="{number(width)}" lengthAdjust="spacingAndGlyphs"'
        tip = title if title is not None else text if cut else ""
        self._add("text", f"{look} {place}", tip, escaped(shown))
        return width

    def _add(self, tag: str, attributes: str, title: str = "", content: str = "") -> None:
        if title:
            content = f"<title>{escaped(whole(title))}</title>{content}"
        self._elements.append(f"<{tag}{attributes}>{content}</{tag}>" if content else f"<{tag}{attributes}/>")


def number(value: float) -> str:
    """A coordinate with at most two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
