"""Colours and fonts of the charts, for light and dark; one stylesheet for a drawing of its own and for a page."""

from __future__ import annotations

from typing import Dict, Tuple

__all__ = ["SERIES_COLOURS", "stylesheet"]

SERIES_COLOURS = 8
"""Classes `af-s0` … `af-s7` (areas) and `af-l0` … (lines)."""

_FONT = (
    "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Noto Sans','Noto Sans CJK SC',"
    "'PingFang SC','Microsoft YaHei',sans-serif"
)
# Told apart by colour-blind readers too (after Okabe and Ito); blue is kept for what is marked, red for what is worse.
_LIGHT = {
    "bg": "#ffffff",
    "ink": "#1d2430",
    "soft": "#5a6472",
    "grid": "#e4e7ec",
    "axis": "#98a2b0",
    "mark": "#0b5fd0",
    "other": "#a3adba",
    "gap": "#eceff3",
    "up": "#c8433a",
    "down": "#2b8a6e",
}
_LIGHT_SERIES = ("#2f8f83", "#dd8a2a", "#7d60ad", "#c0587a", "#8d9a35", "#4b93bf", "#a5704a", "#6d7683")
_DARK = {
    "bg": "#14181f",
    "ink": "#e8ebf0",
    "soft": "#a4adba",
    "grid": "#2a313c",
    "axis": "#6b7583",
    "mark": "#6cacff",
    "other": "#6f7a88",
    "gap": "#232933",
    "up": "#f0776d",
    "down": "#5cc4a3",
}
_DARK_SERIES = ("#55bfb0", "#f0aa58", "#af95e0", "#e88aa8", "#bfca66", "#7fc3ea", "#d2a07c", "#a1abb8")


def stylesheet() -> str:
    """CSS for all drawings; follows the reader's colour scheme."""
    fixed = (
        f".af-chart text{{font-family:{_FONT}}}"
        ".af-line{fill:none;stroke-width:2;stroke-linejoin:round}.af-bold{font-weight:600}"
        ".af-grid,.af-axis,.af-link{stroke-width:1;fill:none}.af-link{stroke-dasharray:2 2}"
        ".af-frame{fill:none;stroke-width:2}.af-band{fill-opacity:.09}"
    )
    dark = f"@media (prefers-color-scheme:dark){{{_rules(_DARK, _DARK_SERIES)}}}"
    return f"{fixed}{_rules(_LIGHT, _LIGHT_SERIES)}{dark}"


def _rules(colours: Dict[str, str], series: Tuple[str, ...]) -> str:
    fills = ("bg", "ink", "soft", "mark", "other", "gap", "up", "down")
    rules = [f".af-{name}{{fill:{colours[name]}}}" for name in fills]
    rules += [f".af-{name}{{stroke:{colours[name]}}}" for name in ("grid", "axis")]
    rules += [f".af-link{{stroke:{colours['axis']}}}.af-band{{fill:{colours['mark']}}}"]
    rules += [f".af-frame{{stroke:{colours['mark']}}}.af-page{{background:{colours['bg']}}}"]
    rules += [f".af-s{index}{{fill:{colour}}}.af-l{index}{{stroke:{colour}}}" for index, colour in enumerate(series)]
    return "".join(rules)
