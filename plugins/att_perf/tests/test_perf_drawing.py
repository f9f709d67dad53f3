"""perf_formula.svg: well-formed, the same bytes twice, no text over another or off the canvas, tabs that work."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from autofuse.types import PipeFormula, Position, TemplateId
from autofuse_att_perf.analysis import analyse_operator
from autofuse_att_perf.candidates import Candidate, OperatorLog
from autofuse_att_perf.drawing.figure import draw
from autofuse_att_perf.drawing.text import amount, escape, percent, shorten, width

SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}"
HOSTILE = "<&>\"'算子_🙂]]>\x00\x1b\u202e\ud800 " + "very_long_name_" * 12
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine: drawings are not looked at")
SIZES = {"h": 16.0, "s": 11.0, "m": 11.0, "w": 11.0, "ont": 11.0, "selt": 11.0}


def line_of(node, pipe, terms, template, total=None):
    pairs = tuple((name, str(value)) for name, value in terms.items())
    text = str(sum(terms.values()) if total is None else total)
    return PipeFormula("Add", Position("a.log", 1), node, "Load", pipe, pairs, text, template)


def operator_of(groups=1, cases=3, name="Add", pipes=("AIV_MTE2", "AIV_MTE3", "AIV_VEC"), terms=2, value=100.0):
    candidates, formulas = [], []
    for group in range(groups):
        for case in range(cases):
            template = TemplateId(0, group, 0, case, "R" if case % 5 == 4 else "")
            values = {"z0t_size": str(64 << case), "block_dim": "24", "ub_size": "65312"}
            logged = {pipe: f"{value * (index + 1) * terms:.6f}" for index, pipe in enumerate(pipes)}
            objective = f"{value * len(pipes) * terms + 300:.6f}"
            candidates.append(Candidate(template, values, logged, objective, {}, case == 1, group == 0))
            for index, pipe in enumerate(pipes):
                for term in range(terms):
                    formulas.append(line_of(f"{name}_node_{term}", pipe, {"cost": value * (index + 1)}, template))
    log = OperatorLog(name, candidates, formulas, {"ub_size": "196608", "block_dim": "48"}, shape={"s0": "1024"})
    return analyse_operator(log, None)


def boxes(root, only=None):
    """(x, top, right, bottom, text) of every text; of panels only those in `only` (the defaults when None)."""
    found = []

    def visit(node, x, y):
        moved = re.match(r"translate\(([-\d.e+]+),([-\d.e+]+)\)", node.get("transform", ""))
        if moved:
            x, y = x + float(moved[1]), y + float(moved[2])
        classes = node.get("class", "").split()
        if "panel" in classes and not (node.get("id") in only if only else "default" in classes):
            return
        if node.tag == f"{SVG}text":
            text = "".join(part for part in [node.text or "", *(child.tail or "" for child in node)])
            size = min((SIZES[name] for name in classes if name in SIZES), default=12.0)
            long = width(text, size) if text.isascii() else width(text, size) * 0.97
            left = x + float(node.get("x")) - (long if "n" in classes else 0)
            top = y + float(node.get("y"))
            found.append((left, top - size * 0.8, left + long, top + size * 0.22, text))
        for child in node:
            visit(child, x, y)

    visit(root, 0.0, 0.0)
    return found


def overlaps(found):
    hits = []
    ordered = sorted(found, key=lambda box: box[1])
    for index, one in enumerate(ordered):
        for other in ordered[index + 1 :]:
            if other[1] >= one[3]:
                break
            if one[0] < other[2] - 0.01 and other[0] < one[2] - 0.01 and one[4].strip() and other[4].strip():
                hits.append((one[4], other[4]))
    return hits


CASES = {
    "one": lambda: [operator_of()],
    "two groups": lambda: [operator_of(2)],
    "three groups": lambda: [operator_of(3, name="x" * 300)],
    "five groups": lambda: [operator_of(5, cases=2)],
    "thirty cases": lambda: [operator_of(3, cases=30)],
    "hostile": lambda: [operator_of(3, name=HOSTILE, pipes=("AIV_MTE2", HOSTILE[:60]))],
    "many terms": lambda: [operator_of(terms=60)],
    "huge": lambda: [operator_of(3, value=1.797e308 / 100)],
    "nan": lambda: [operator_of(3, value=math.nan)],
    "inf": lambda: [operator_of(3, value=math.inf)],
    "negative": lambda: [operator_of(3, value=-123456.789)],
    "zero": lambda: [operator_of(value=0.0)],
    "tiny": lambda: [operator_of(value=1e-300)],
    "nothing": list,
    "several": lambda: [operator_of(), operator_of(4, name="B"), operator_of(2, cases=1, name="C")],
}


@pytest.mark.parametrize("name", CASES)
def test_well_formed_deterministic_and_nothing_overlaps(name):
    analyses = CASES[name]()
    text = draw(analyses, "Title")
    assert text == draw(CASES[name](), "Title")
    root = ElementTree.fromstring(text)
    assert (root.tag, root.get("version")) == (f"{SVG}svg", "1.1")
    found = boxes(root)
    assert not overlaps(found)
    wide, high = float(root.get("width")), float(root.get("height"))
    assert all(left >= 0 and right <= wide and top >= 0 and bottom <= high for left, top, right, bottom, _ in found)
    assert not re.search(r'(?:width|height)="-|h-?nan|h-?inf|"nan"|"inf"', text)


def test_ids_are_unique_and_tabs_lead_to_panels():
    root = ElementTree.fromstring(draw([operator_of(2), operator_of(name="B")], "t"))
    ids = [node.get("id") for node in root.iter() if node.get("id")]
    assert len(ids) == len(set(ids)) == 9
    assert sorted(node.get(f"{XLINK}href")[1:] for node in root.iter(f"{SVG}a")) == sorted(ids)
    defaults = [node.get("id") for node in root.iter() if "default" in node.get("class", "").split()]
    assert len(defaults) == 3


def test_every_panel_is_free_of_overlaps():
    analyses = [operator_of(3, cases=7, terms=5)]
    root = ElementTree.fromstring(draw(analyses, "t"))
    for index in range(7):
        assert not overlaps(boxes(root, {f"pf-0-{group}-{index}" for group in range(3)}))


def test_chosen_case_bottleneck_and_sensitivity_have_their_colours():
    text = draw([operator_of()], "t")
    root = ElementTree.fromstring(text)
    tabs = ["".join(node.itertext()) for node in root.iter(f"{SVG}a")]
    assert tabs == ["case 0", "★ case 1", "case 2"]
    (panel,) = (node for node in root.iter() if "default" in node.get("class", "").split())
    classes = [node.get("class") for node in panel.iter(f"{SVG}path")]
    assert classes.count("max") == 1
    assert classes.count("pipe") == 2
    assert classes.index("max") < classes.index("pipe")
    assert {node.get("class") for node in panel.iter(f"{SVG}rect")} == {"on"}
    links = [[node.get("class") for node in link.iter(f"{SVG}rect")] for link in root.iter(f"{SVG}a")]
    assert links == [["tab"], ["sel"], ["tab"]]
    assert "prefers-color-scheme:dark" in text


def test_long_names_are_shortened_and_whole_in_the_title():
    name = "long_node_name_" * 20
    text = draw([operator_of(3, name=name)], "t")
    root = ElementTree.fromstring(text)
    titles = {node.text for node in root.iter(f"{SVG}title")}
    assert name in titles
    assert f"{name}_node_0: cost" in titles


def test_only_the_largest_terms_are_drawn_one_by_one():
    text = draw([operator_of(cases=1, pipes=("AIV_VEC",), terms=60)], "t")
    assert text.count("_node_") == 16
    assert "44 smaller terms" in text


def test_negative_terms_have_a_colour_of_their_own():
    log = OperatorLog("Add", formulas=[line_of("n", "AIV_VEC", {"a": 100, "b": -40}, None)])
    text = draw([analyse_operator(log, None)], "t")
    assert '<path class="neg"' in text
    assert "-40 -67%" in text


@pytest.mark.parametrize(
    "value, text",
    [
        (None, "?"), (0.0, "0"), (12.0, "12"), (1234.5678, "1234.57"), (123456.7, "123457"), (1e12, "1e+12"),
        (math.nan, "nan"), (-math.inf, "-inf"), (0.001234, "0.0012"), (1.797e308, "1.797e+308"), (-5.25, "-5.25"),
    ],
)  # fmt: skip
def test_amounts(value, text):
    assert amount(value) == text


def test_percent_and_escape_and_shorten():
    assert [percent(x) for x in (None, 0.0, 3.14, 50.4, math.nan, -7.5)] == ["", "0%", "3.1%", "50%", "", "-7.5%"]
    assert escape("<&>\"'\x00\ud800\u202e") == "&lt;&amp;&gt;&quot;&#39;\ufffd\ufffd\ufffd"
    assert shorten("abcdefghij", 40, 10) == "abc…ij" or len(shorten("abcdefghij", 40, 10)) < 10
    for text in ("x" * 50, "算" * 50, "a🙂" * 30, HOSTILE):
        for room in (0, 5, 30, 100, 333):
            shown = shorten(text, room, 11.0)
            assert width(shown, 11.0) <= room + 1e-9


@needs_browser
def test_text_stays_in_its_place_in_a_browser(tmp_path):
    """The pessimistic widths of the layout hold for the fonts of this machine, and a tab shows its panel alone."""
    analyses = [operator_of(3, cases=4, name=HOSTILE.replace("\ud800", "")), operator_of(1, name="算子融合" * 40)]
    (tmp_path / "d.svg").write_text(draw(analyses, "t"), encoding="utf-8")
    (tmp_path / "page.html").write_text(_PAGE % draw(analyses, "t"), encoding="utf-8")
    answers = re.search(r'<pre id="answer">(.*?)</pre>', browse(tmp_path, "page.html#pf-0-1-3"), re.DOTALL)[1]
    shown, outside, widest = answers.split("|")
    assert shown == "pf-0-0-1 pf-0-1-3 pf-0-2-1 pf-1-0-1"
    assert outside == "0"
    assert float(widest) <= 1.0


_PAGE = """<!doctype html><meta charset="utf-8"><body style="margin:0">%s<script>
addEventListener("load", () => setTimeout(() => {
const svg = document.querySelector("svg"), page = svg.getBoundingClientRect();
const visible = node => getComputedStyle(node).display !== "none";
const panels = [...document.querySelectorAll(".panel")].filter(visible).map(node => node.id).sort();
const texts = [...svg.querySelectorAll("text")].filter(node => node.getBoundingClientRect().width > 0);
const out = texts.filter(node => { const box = node.getBoundingClientRect();
  return box.left < page.left - 0.5 || box.right > page.right + 0.5 || box.bottom > page.bottom + 0.5; });
const cards = [...svg.querySelectorAll(".card")].map(node => node.getBoundingClientRect());
const over = texts.map(node => { const box = node.getBoundingClientRect();
  const card = cards.find(c => c.left <= box.left && box.left <= c.right && c.top <= box.top && box.top <= c.bottom);
  return card ? box.right / card.right : 0; });
const node = document.createElement("pre"); node.id = "answer";
node.textContent = [panels.join(" "), out.length, Math.max(...over)].join("|");
document.body.replaceChildren(node);
}, 100));
</script></body>"""


def browse(folder, name):
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
        f"--user-data-dir={folder / 'profile'}", "--window-size=1400,1000",
        "--virtual-time-budget=5000", "--dump-dom", f"file://{folder}/{name}",
    ]  # fmt: skip
    environment = {**os.environ, "HOME": str(folder)}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=240, env=environment)
    return done.stdout.decode("utf-8", "replace")


def test_operators_without_shown_group_are_still_drawn():
    analysis = operator_of()
    unchosen = [replace(candidate, chosen=False) for candidate in analysis.log.candidates]
    again = analyse_operator(replace(analysis.log, candidates=unchosen), None)
    assert "★" not in draw([again], "t")
