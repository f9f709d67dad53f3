"""Colours and fonts of the drawing, light and dark, and the rules that make tabs work without a script."""

from __future__ import annotations

__all__ = ["FONT", "SMALL", "STYLE", "TITLE"]

FONT = 12.0
SMALL = 11.0
TITLE = 16.0

_LIGHT = {
    "page": "#ffffff",
    "card": "#f5f6f8",
    "edge": "#d5d9df",
    "text": "#1b1f24",
    "mute": "#57606a",
    "tab": "#e3e7ec",
    "grey": "#a3acb7",
    "term": "#cdd3da",
    "red": "#cf3a32",
    "redterm": "#f0a8a3",
    "blue": "#1f6feb",
    "onblue": "#ffffff",
    "orange": "#e08a2c",
    "warn": "#b42318",
    "negative": "#8e6bbf",
}
_DARK = {
    "page": "#14171b",
    "card": "#1c2127",
    "edge": "#343c46",
    "text": "#e6e9ed",
    "mute": "#9aa4b0",
    "tab": "#2a313a",
    "grey": "#6b7683",
    "term": "#464f5b",
    "red": "#f0655d",
    "redterm": "#8f413c",
    "blue": "#4c94ff",
    "onblue": "#08111f",
    "orange": "#f0a04b",
    "warn": "#ff8a80",
    "negative": "#b79be0",
}

_RULES = """
.pf text{{font-family:ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;font-size:12px;fill:{text}}}
.pf .s{{font-size:11px}} .pf .m{{font-size:11px;fill:{mute}}} .pf .h{{font-size:16px;font-weight:600}}
.pf .b{{fill:{blue};font-weight:600}} .pf .w{{font-size:11px;fill:{warn}}}
.pf .e{{font-size:12px;font-weight:600;fill:{red}}}
.pf .n{{text-anchor:end}} .pf .page{{fill:{page}}} .pf .card{{fill:{card};stroke:{edge}}} .pf .rule{{stroke:{edge}}}
.pf{{background:{page}}} .pf .tab{{fill:{tab}}} .pf .on{{fill:{text}}}
.pf .sel{{fill:{blue}}} .pf .selt{{font-size:11px;font-weight:600;fill:{onblue}}}
.pf .pipe{{fill:{grey}}} .pf .max{{fill:{red}}} .pf .term{{fill:{term}}} .pf .maxterm{{fill:{redterm}}}
.pf .neg{{fill:{negative}}} .pf .sens{{fill:{orange}}} .pf .pickbar{{fill:{blue}}}
"""
_TABS = """
.pf .panel{display:none} .pf .panel:target,.pf .default{display:inline} .pf .panel:target~.default{display:none}
.pf a{cursor:pointer} .pf a:focus rect,.pf a:hover rect{stroke:#1f6feb;stroke-width:1.5}
"""


def _rules(colours: dict[str, str]) -> str:
    return _RULES.format(**colours).strip()


STYLE = f"{_rules(_LIGHT)}\n{_TABS.strip()}\n@media (prefers-color-scheme:dark){{\n{_rules(_DARK)}\n}}"
