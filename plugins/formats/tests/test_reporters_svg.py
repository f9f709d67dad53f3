"""svg and the charts: well-formed, deterministic, gaps stay gaps, and no text overlaps or leaves the canvas."""

from __future__ import annotations

import io
import itertools
import random
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from autofuse.errors import AutofuseError
from autofuse.report.model import Chart, Figure, Report, ReportContext, Series
from autofuse_formats.charts import draw, stylesheet
from autofuse_formats.charts.heatmap import _Colours
from autofuse_formats.charts.scale import scale_for
from autofuse_formats.charts.text import compact_label, number_label, shortened, text_width
from autofuse_formats.reporters import svg
from browser import evaluate, evaluate_all, needs_browser
from report_sample import HOSTILE, charts, figure, sample_report

SVG = "{http://www.w3.org/2000/svg}"
KINDS = ("bar", "stacked", "line", "heatmap", "waterfall")


def render(report, **context):
    out = io.BytesIO()
    svg.write(report, out, ReportContext(**context))
    return out.getvalue().decode("utf-8")


def root_of(drawing):
    return ElementTree.fromstring(drawing.element(stylesheet()))


def texts(root):
    return ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]


def titles(root):
    return [node.text for node in root.iter(f"{SVG}title")]


def bar_widths(root, cls):
    return [float(node.get("width")) for node in root.iter(f"{SVG}rect") if node.get("class") == cls]


def chart(kind, values, names=None, **more):
    names = names or tuple(f"n{index}" for index in range(len(values)))
    return Chart("c", kind, "Title", tuple(names), (Series("s", tuple(values)),), **more)


def test_svg_is_one_well_formed_root():
    text = render(sample_report())
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<svg ')
    root = ElementTree.fromstring(text.encode("utf-8"))
    assert root.tag == f"{SVG}svg"
    assert root.get("version") == "1.1"
    assert root.find(f"{SVG}title").text == "Summary of <2> logs"
    assert "prefers-color-scheme:dark" in root.find(f"{SVG}style").text


def test_svg_is_the_same_bytes_each_time():
    assert render(sample_report()) == render(sample_report())


@pytest.mark.parametrize("kind", KINDS)
def test_no_rectangle_has_a_negative_size(kind):
    values = (5.0, -3.0, 0.0, None, float("nan"), float("inf"), -1e299, 1e299, 5e-324)
    root = root_of(draw(chart(kind, values)))
    sizes = [float(node.get(name)) for node in root.iter(f"{SVG}rect") for name in ("width", "height")]
    assert sizes
    assert min(sizes) > 0
    assert "nan" not in {node.get(name) for node in root.iter() for name in ("x", "y", "width", "height", "points")}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("names", [HOSTILE, ("",) * 3, ("x" * 200_000,) * 2])
def test_hostile_names_are_escaped(kind, names):
    drawing = draw(chart(kind, range(len(names)), names))
    root = root_of(drawing)
    assert not list(root.iter(f"{SVG}script"))
    assert len(drawing.body) < 200_000
    assert not [char for text in texts(root) for char in text if char < " "]


def test_long_names_are_shortened_and_whole_in_the_title():
    name = "autofuse_pointwise_" + "0" * 100 + "_Abs_Add"
    root = root_of(draw(chart("bar", (1.0,), (name,))))
    assert name in titles(root)
    shown = next(node for node in root.iter(f"{SVG}text") if "…" in "".join(node.itertext()))
    assert shown.find(f"{SVG}title").text == name
    assert shown.find(f"{SVG}title").tail.startswith("autofuse_pointwise")
    assert shown.find(f"{SVG}title").tail.endswith("_Abs_Add")


def test_bars_are_proportional_and_start_at_zero():
    widths = bar_widths(root_of(draw(chart("bar", (1.0, 2.0, 4.0)))), "af-s0")
    assert widths[1] / widths[0] == pytest.approx(2, rel=1e-3)
    assert widths[2] / widths[0] == pytest.approx(4, rel=1e-3)


def test_marked_category_has_a_star_and_is_blue():
    root = root_of(draw(chart("bar", (3.0, 1.0, 2.0), ("a", "b", "c"), marked=(1,))))
    assert "★ b" in texts(root)
    assert len(bar_widths(root, "af-mark")) == 1
    assert len(bar_widths(root, "af-other")) == 2


def test_gaps_are_told_apart_and_counted():
    root = root_of(draw(chart("bar", (1.0, None, float("nan"), float("-inf")))))
    shown = [node.find(f"{SVG}title").tail for node in root.iter(f"{SVG}text") if node.find(f"{SVG}title") is not None]
    assert shown == ["1", "–", "nan", "-inf"]
    assert "without a bar or point (nan, infinite or beyond 1e300): 2" in texts(root)
    assert len(bar_widths(root, "af-s0")) == 1


def test_lines_break_at_gaps():
    root = root_of(draw(chart("line", (1.0, 2.0, None, 4.0, float("nan"), 6.0, 7.0))))
    lines = [node.get("points").split() for node in root.iter(f"{SVG}polyline")]
    assert [len(points) for points in lines] == [2, 2]
    assert len(list(root.iter(f"{SVG}circle"))) == 5


def test_stacked_bars_show_the_sum():
    names = ("a",)
    series = tuple(Series(str(value), (value,)) for value in (1.0, 2.0, -4.0, None))
    root = root_of(draw(Chart("c", "stacked", "t", names, series)))
    assert "a: -1" in titles(root)
    assert bar_widths(root, "af-s2")[-1] == pytest.approx(2 * bar_widths(root, "af-s1")[-1], rel=1e-2)


def test_waterfall_ends_at_the_sum():
    root = root_of(draw(chart("waterfall", (10.0, -4.0, None, 1.5), unit="cycles")))
    assert "sum: 7.5 cycles" in titles(root)
    assert "+1.5" in " ".join(texts(root))
    up, down, total = (bar_widths(root, cls) for cls in ("af-up", "af-down", "af-other"))
    assert sum(up) - sum(down) == pytest.approx(total[0], abs=0.1)


def test_heatmap_colours():
    plain = _Colours.over([0.0, 10.0])
    assert plain(0.0) != plain(10.0)
    assert _Colours.over([-1.0, 4.0])(0.0) == (236, 236, 236)
    assert _Colours.over([1.0, 1e6]).logarithmic
    assert _Colours.over([3.0, 3.0])(3.0) == _Colours.over([0.0, 2.0])(1.0)
    assert _Colours.over([-1e300, 1e300])(0.0) == (236, 236, 236)


def test_heatmap_of_many_values_is_binned():
    names = tuple(str(index) for index in range(400))
    series = tuple(Series(str(row), tuple(float(column + row) for column in range(400))) for row in range(400))
    drawing = draw(Chart("c", "heatmap", "t", names, series))
    assert drawing.body.count("<rect") < 21_000
    assert "each cell is the mean of up to 3 × 3 values" in drawing.body


@pytest.mark.parametrize("kind", ["bar", "stacked", "waterfall"])
def test_more_bars_than_a_reader_can_use_are_left_to_the_table(kind):
    drawing = draw(chart(kind, [1.0] * 20_000))
    assert "are drawn, the table has all" in drawing.body
    assert drawing.body.count("<rect") < 9000


@pytest.mark.parametrize("empty", [(), (None, None), (float("nan"),), (float("inf"), None)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_chart_without_numbers_says_so(kind, empty):
    assert "no data" in texts(root_of(draw(chart(kind, empty))))
    assert "无数据" in texts(root_of(draw(chart(kind, empty), "zh")))


@pytest.mark.parametrize("kind", KINDS)
def test_series_shorter_or_longer_than_the_categories(kind):
    series = (Series("short", (1.0,)), Series("long", (1.0, 2.0, 3.0, 4.0)), Series("none", ()))
    root_of(draw(Chart("c", kind, "t", ("a", "b"), series, marked=(1, 7, -1))))


def test_unknown_kind_is_named():
    with pytest.raises(AutofuseError, match=r"'pie'.*kinds: bar"):
        draw(Chart("c", "pie", "t", (), ()))


def test_report_without_charts_has_a_message():
    root = ElementTree.fromstring(render(Report("Nothing <here>", ())).encode())
    assert "no data" in texts(root)


def test_a_lone_figure_is_written_as_it_is():
    drawing = figure()
    assert render(Report("t", (), figures=(drawing,))).partition("\n")[2] == drawing.svg() + "\n"


def test_figures_and_charts_stand_below_each_other():
    report = Report("t", (), charts=charts()[:1], figures=(figure(), figure()))
    root = ElementTree.fromstring(render(report).encode())
    assert [group.get("class") for group in root.findall(f"{SVG}g")] == ["af-chart", None, None]
    places = [float(group.get("transform")[len("translate(0 ") : -1]) for group in root.findall(f"{SVG}g")]
    assert places == sorted(places)
    assert float(root.get("height")) == places[-1] + 50


@pytest.mark.parametrize(
    "text", ["", "no xml", "<svg", "<div xmlns='http://www.w3.org/1999/xhtml'/>", "<svg>\x00</svg>"]
)
def test_a_figure_that_is_no_svg_is_a_broken_plugin(text):
    with pytest.raises(AutofuseError, match="figure 'f'") as caught:
        render(Report("t", (), figures=(Figure("f", "F", lambda: text),)))
    assert caught.value.exit_code == 3


def test_declarations_of_figures_are_dropped():
    text = '<?xml version="1.0"?>\n<!DOCTYPE svg>\n<!-- made by hand -->\n<svg viewBox="0 0 30 20"/>'
    assert svg.figure_svg(Figure("f", "F", lambda: text)) == ('<svg viewBox="0 0 30 20"/>', 30.0, 20.0)


def test_labels():
    numbers = (0, 1754.08283, 0.1, 12.34567, -5.0, 1e9, 1.5e-7, 123456.7, 2.0)
    assert [number_label(value) for value in numbers] == [
        "0", "1,754.1", "0.1", "12.346", "-5", "1e9", "1.5e-7", "123,457", "2",
    ]  # fmt: skip
    assert [compact_label(value) for value in (81920, 1.5e6, 999_999, 12.3456, 5)] == [
        "81.9k",
        "1.5M",
        "1000k",
        "12.3",
        "5",
    ]


def test_shortened_text_fits():
    for size, room in itertools.product((11, 15), (20, 60, 300)):
        shown, cut = shortened("融合算子 autofuse_pointwise_0_Abs " * 5, room, size)
        assert cut
        assert text_width(shown, size) <= room


@pytest.mark.parametrize(
    "values", [(0.0,), (5.0, 5.0), (-3.0,), (1e299, -1e299), (5e-324, 0.0), (1.0, 1.0 + 1e-15), ()]
)
@pytest.mark.parametrize("with_zero", [True, False])
def test_scales_have_ticks_inside(values, with_zero):
    scale = scale_for(values, 0.0, 100.0, with_zero)
    ticks = scale.ticks(5)
    assert 1 <= len(ticks) <= 24
    assert all(-0.01 <= scale(tick) <= 100.01 for tick in ticks)


# --- in a browser -----------------------------------------------------------------------------------------------------

# Boxes of all texts against their canvas and against each other; a pixel of tolerance for the line height.
LOOK = """
const found = [];
document.querySelectorAll("svg").forEach((svg, number) => {
  const canvas = svg.getBoundingClientRect();
  const boxes = [];
  svg.querySelectorAll("text").forEach(node => {
    const box = node.getBoundingClientRect(), text = node.lastChild ? node.lastChild.textContent : "";
    if (box.left < canvas.left - 0.5 || box.right > canvas.right + 0.5 || box.top < canvas.top - 0.5
        || box.bottom > canvas.bottom + 0.5) found.push([number, "leaves the canvas", text]);
    for (const other of boxes)
      if (box.left < other.right - 1 && other.left < box.right - 1
          && box.top + 2 < other.bottom - 2 && other.top + 2 < box.bottom - 2)
        found.push([number, "overlaps", text, other.text]);
    boxes.push({left: box.left, right: box.right, top: box.top, bottom: box.bottom, text});
  });
});
answer([document.querySelectorAll("svg text").length, found]);
"""


def awkward_charts():
    chance = random.Random(7)
    long = "A very long name that never seems to end " * 4
    scripts = (
        "\ufdfd" * 20,
        "\U0001f9d1 emoji " * 9,
        "שלום " * 20,
        "कर्नाटक" * 12,
        "融合算子" * 30,
        long,
        "WWWWWWWW" * 9,
    )
    for count, marked in ((1, (0,)), (3, ()), (7, (2, 3)), (40, (39,)), (150, (0, 75))):
        names = [scripts[index] if count == 7 else f"autofuse_pointwise_{index}_Abs_Add" for index in range(count)]
        for scale, names_of in ((1.0, names), (1e9, [str(2**index) for index in range(count)]), (1e-12, names)):
            values = [chance.uniform(-0.3, 1) * scale for _ in range(count)]
            for kind in KINDS:
                yield chart(kind, values, names_of, marked=marked, unit="cycles", x_title=long, y_title=long)
                yield chart(kind, [abs(value) for value in values], names_of)
                yield chart(kind, [-abs(value) for value in values], names_of)
                several = tuple(
                    Series(f"{long if index == 5 else 'series'} {index}", tuple(values)) for index in range(11)
                )
                yield replace(chart(kind, values, names_of, marked=marked, notes=(long,) * 2), series=several)
    yield from charts()


@needs_browser
def test_no_text_overlaps_or_leaves_the_canvas(tmp_path):
    page = "".join(draw(item).element() for item in awkward_charts())
    text = (
        f"<!doctype html><html><head><meta charset=utf-8><style>{stylesheet()}</style></head><body>{page}</body></html>"
    )
    look = {"charts": (text, LOOK)}
    count, found = evaluate_all(tmp_path / "charts.html", look, widths={"charts": 1000})["charts"]
    assert count > 5000
    assert found == []


@needs_browser
def test_drawing_follows_the_colour_scheme(tmp_path):
    text = render(sample_report()).partition("\n")[2]
    page = f"<!doctype html><html><head><meta charset=utf-8></head><body>{text}</body></html>"
    script = "answer(['.af-bg', '.af-ink'].map(c => getComputedStyle(document.querySelector(c)).fill).join(' '))"
    assert evaluate(tmp_path / "light.html", page, script) == "rgb(255, 255, 255) rgb(29, 36, 48)"
    dark = evaluate(tmp_path / "dark.html", page, script, "--blink-settings=preferredColorScheme=0")
    assert dark == "rgb(20, 24, 31) rgb(232, 235, 240)"
