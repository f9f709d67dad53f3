"""html: one safe page; its tables are driven in a real browser where there is one."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from html.parser import HTMLParser

import pytest
from autofuse.cli.app import App
from autofuse.report.emit import emit
from autofuse.report.model import Column, Number, Report, ReportContext, Table
from autofuse_formats.reporters import html
from autofuse_formats.reporters.visible import visible
from browser import evaluate, evaluate_all, needs_browser, run_page
from report_sample import COLUMNS, HOSTILE, Rows, figure, sample_report


def render(report, **context):
    out = io.BytesIO()
    html.write(report, out, ReportContext(**context))
    return out.getvalue().decode("utf-8")


class Page(HTMLParser):
    """What a page holds: elements with their attributes, and the text of scripts, styles and everything else."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.texts = {}
        self._open = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        if self._open:
            self.texts.setdefault(self._open[-1], []).append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def data_of(text):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found[1])


def cells(column):
    return [column["values"][row] for row in column["rows"]] if "rows" in column else column["cells"]


def without_policy(text):
    return re.sub(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>", "", text)


# --- the page ---------------------------------------------------------------------------------------------------------


def test_page_loads_nothing():
    page = Page(render(sample_report()))
    attributes = [value or "" for _, found in page.elements for name, value in found.items() if name != "xmlns"]
    assert not [value for value in attributes if re.match(r"(?i)\s*(https?:|//|javascript:|data:)", value)]
    assert {name for name, _ in page.elements} & {"link", "img", "iframe", "object", "embed", "base", "form"} == set()
    assert not [name for _, found in page.elements for name in found if name.startswith("on") or name == "src"]
    assert not re.search(r"@import|url\(", "".join(page.texts["style"]))


def test_policy_allows_only_its_own_script_and_style():
    page = Page(render(sample_report().__class__("t", sample_report().tables, sample_report().charts)))
    policy = next(meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    for kind, text in (("script-src", page.texts["script"][-1]), ("style-src", page.texts["style"][0])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy


def test_hostile_text_stays_text():
    text = render(sample_report())
    page = Page(text)
    assert len(page.all("script")) == 2
    assert "alert(1)</script>" not in text
    assert page.texts["td"].count(visible(HOSTILE[0])) == 1
    assert not [char for char in text if visible(char) != char and char != "\n"]


def test_data_holds_every_cell():
    table = data_of(render(sample_report()))["tables"][0]
    columns = {column["name"]: column for column in table["columns"]}
    assert list(columns) == [column.name for column in COLUMNS]
    assert cells(columns["Operator"])[: len(HOSTILE)] == [
        name.replace("\udc80", "\\udc80") if "\udc80" in name else visible(name) for name in HOSTILE
    ]
    assert cells(columns["Objective Value"])[:10] == [
        "1754.082830", "18446744073709551615", "nan", "-inf", None, 128, "0.1", "inf", "nan", "1e+300",
    ]  # fmt: skip
    assert cells(columns["Cosine"])[1] == "0.99900000"
    assert columns["Cosine"]["exact"][1] == 0.999
    assert columns["Source"]["hidden"]
    assert table["links"] == [{"source": 5, "line": 6, "name": "Log", "owner": ""}]


def test_pairs_of_source_and_line_columns_are_links():
    names = (
        "Operator",
        "Base Source",
        "Base Line",
        "Candidate Source",
        "Candidate Line",
        "Final Source",
        "source_path",
        "source_line",
    )
    table = Table("t", tuple(Column(name) for name in names), [])
    links = data_of(render(Report("t", (table,))))["tables"][0]["links"]
    assert links == [
        {"source": 1, "line": 2, "name": "Base Log", "owner": "base"},
        {"source": 3, "line": 4, "name": "Candidate Log", "owner": "candidate"},
        {"source": 6, "line": 7, "name": "Log", "owner": ""},
    ]


def test_ten_thousand_rows_are_under_eight_megabytes():
    columns = (*COLUMNS, *(Column(f"value_{index}", "float") for index in range(38)))

    class Wide:
        def __iter__(self):
            for index, cells_of in enumerate(Rows(10_000)):
                yield (*cells_of, *(Number(f"{(index * 7919 + place) % 99991}.{place:06d}") for place in range(38)))

    text = render(Report("t", (Table("summary", columns, Wide()),)))
    assert len(text) < 8_000_000
    assert data_of(text)["tables"][0]["count"] == 10_000


def test_page_without_script_has_the_first_rows():
    page = Page(render(sample_report(rows=100)))
    assert "Without JavaScript only the first 50 of 119 rows are shown." in page.texts["p"]
    assert len(page.all("tr")) == 1 + 50 + 1 + 2 + 1


def test_page_in_chinese():
    text = render(sample_report(), lang="zh")
    assert '<html lang="zh-CN">' in text
    assert ">算子</th>" in text
    assert data_of(text)["words"]["Filter"] == "筛选"


def test_title_lead_notes_figures_and_provenance():
    text = render(sample_report())
    assert "<title>Summary of &lt;2&gt; logs</title>" in text
    assert "<p>Slowest: &lt;Add&gt; with 1754.082830 cycles\\x1b[2J</p>" in text
    assert "<li>2 calls failed</li>" in text
    assert figure().svg() in text
    assert "<dt>command</dt><dd>autofuse run summary a.log</dd>" in text
    assert text.count('class="af-chart"') == 7
    order = [text.index(place) for place in (figure().svg(), "Objective by operator</text>", ">Course</text>")]
    assert order[1] < text.index("<table>") < order[2]
    assert order == sorted(order)


def test_page_of_nothing():
    assert "<h1>t</h1>" in render(Report("t", ()))


def test_huge_pages_are_announced(monkeypatch):
    monkeypatch.setattr(html, "_MANY_ROWS", 10)
    notices = []
    render(sample_report(), notice=notices.append)
    assert "browsers become slow" in notices[0]


def test_emit_writes_the_page(tmp_path):
    (path,) = emit(App(), sample_report(), None, str(tmp_path / "report.html"))
    assert path.read_text(encoding="utf-8") == render(sample_report(), to_file=True)


# --- in a browser -----------------------------------------------------------------------------------------------------

TOOLS = """
const section = document.querySelector("section[data-table]");
const rows = () => [...section.querySelectorAll("tbody tr")];
const first = () => rows().map(row => row.cells[0].textContent);
const heads = () => [...section.querySelectorAll("thead th")];
const head = name => heads().find(cell => cell.textContent === name);
const column = name => { const at = heads().indexOf(head(name)); return rows().map(row => row.cells[at].textContent); };
const status = () => section.querySelector(".controls .soft").textContent;
const filter = text => {
  const box = section.querySelector("input[type=search]");
  box.value = text;
  box.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"}));
  return [status(), first()];
};
"""


PROBES = {}
"""Test → the script that it runs on a page of its own."""


def in_browser(script):
    """The test gets what the script gives to `answer(value)`; all of them run in one start of the browser."""

    def decorate(test):
        PROBES[test.__name__] = script
        return needs_browser(test)

    return decorate


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Test → answer."""
    page = without_policy(render(sample_report(300)))
    probes = {name: (page, f"{TOOLS}{script}") for name, script in PROBES.items()}
    return evaluate_all(tmp_path_factory.mktemp("browser") / "pages.html", probes)


@pytest.fixture
def answer(answers, request):
    """What the script of this test saw."""
    return answers[request.node.name]


@in_browser("""
answer([first().slice(0, 19), document.scripts.length, document.querySelectorAll("td script, td b").length]);
""")
def test_browser_shows_hostile_names_as_text(answer):
    names, scripts, inside = answer
    assert names == [visible(name).replace("\udc80", "\\udc80") for name in HOSTILE]
    assert (scripts, inside) == (3, 0)


@in_browser("""
const before = [status(), rows().length];
section.querySelector("[aria-label='next page']").click();
const next = [status(), section.querySelector("[aria-label='previous page']").disabled];
section.querySelector("select").value = "1000";
section.querySelector("select").dispatchEvent(new Event("change"));
answer([before, next, [status(), rows().length]]);
""")
def test_browser_pages_through_the_rows(answer):
    assert answer == [
        ["rows 1–100 of 319", 100],
        ["rows 101–200 of 319", False],
        ["rows 1–319 of 319", 319],
    ]


@in_browser("""
section.querySelector("select").value = "1000";
section.querySelector("select").dispatchEvent(new Event("change"));
const press = name => {
  head(name).querySelector("button").click();
  return [head(name).getAttribute("aria-sort"), column(name)];
};
const up = press("Objective Value"), down = press("Objective Value"), off = press("Objective Value");
const keys = press("Tiling Key")[1];
answer([up, down, off, keys, document.activeElement.textContent]);
""")
def test_browser_sorts_numbers_as_numbers_and_keeps_gaps_last(answer):
    (up_sort, up), (down_sort, down), (off_sort, off), keys, focused = answer
    assert (up_sort, down_sort, off_sort) == ("ascending", "descending", "none")
    order = ["-inf", "0.1", "128", "1754.082830", "18446744073709551615", "1e+300", "inf", "nan", "–"]
    assert list(dict.fromkeys(up)) == order
    assert list(dict.fromkeys(down)) == [*order[:-2][::-1], "nan", "–"]
    assert off[:2] == ["1754.082830", "18446744073709551615"]
    # Neighbours beyond 2^53 are told apart.
    numbers = [int(key) for key in keys if key != "–"]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) > 10
    assert focused == "Tiling Key"


@in_browser("""
filter("autofuse");
head("Operator").querySelector("button").click();
answer(first().slice(0, 12));
""")
def test_browser_sorts_names_naturally(answer):
    assert answer == [f"autofuse_pointwise_{index}_Abs_Add" for index in range(12)]


@in_browser("""
answer([filter("pointwise_29"), filter("pointwise_1 plog-3"), filter("Line>298"), filter("graph=2 line<4"),
        filter("operator:融合"), filter("no such"), filter("<&>"), filter("")[0]]);
""")
def test_browser_filters(answer):
    words, both, above, column, chinese, none, sign, everything = answer
    assert words[0] == "rows 1–11 of 11 (of 319)"
    assert all("pointwise_29" in name for name in words[1])
    assert both[1][0] == "autofuse_pointwise_10_Abs_Add"
    assert above == ["rows 1–2 of 2 (of 319)", ["autofuse_pointwise_298_Abs_Add", "autofuse_pointwise_299_Abs_Add"]]
    assert column[1] == ["融合算子_加法", "autofuse_pointwise_2_Abs_Add"]
    assert chinese[1] == ["融合算子_加法"]
    assert none == ["no row matches", []]
    assert len(sign[1]) == 1
    assert everything == "rows 1–100 of 319"


@in_browser("""
const row = rows()[1];
const links = [...row.querySelectorAll("a")].map(link => [link.href, link.title, link.textContent]);
let copied = "";
document.execCommand = () => { copied = document.activeElement.value; return true; };
Object.defineProperty(navigator, "clipboard", {value: {writeText: () => Promise.reject()}});
row.querySelector("td.log button").click();
setTimeout(() => answer([links, copied, document.getElementById("live").textContent]), 50);
""")
def test_browser_links_values_to_their_log_line(answer):
    links, copied, said = answer
    where = "/var/log/run 1/plog-1.log:2"
    href = "file:///var/log/run%201/plog-1.log#L2"
    assert links[0] == [href, where, "plog-1.log:2"]
    assert [href, where, "18446744073709551615"] in links
    assert copied == where
    assert said == f"copied {where}"


@in_browser("""
const names = () => heads().map(cell => cell.textContent);
const before = names(), text = section.querySelector("summary").textContent;
section.querySelector(".menu button").click();
const all = names();
section.querySelector(".menu input").click();
answer([before, text, all, names(), section.querySelector("summary").textContent]);
""")
def test_browser_chooses_columns(answer):
    before, text, everything, fewer, after = answer
    assert before == ["Operator", "Log", "Graph", "Objective Value", "Cosine", "Tiling Key"]
    assert text == "columns 5 of 7"
    assert everything == [*before, "Source", "Line"]
    assert fewer[:2] == ["Graph", "Log"]
    assert after == "columns 6 of 7"


@in_browser("""
filter("autofuse");
window.dispatchEvent(new Event("beforeprint"));
const printed = [rows().length, section.querySelectorAll("th button").length];
window.dispatchEvent(new Event("afterprint"));
answer([printed, [rows().length, section.querySelectorAll("th button").length]]);
""")
def test_browser_prints_all_filtered_rows(answer):
    assert answer == [[300, 0], [100, 5]]


@in_browser("""
const reached = [...section.querySelectorAll("input, button, select, summary, a, [tabindex]")]
  .filter(node => node.tabIndex >= 0 && node.getClientRects().length).map(node => node.tagName);
answer([heads().filter(cell => cell.querySelector("button")).length, reached.slice(0, 4), reached.includes("TH"),
        section.querySelector(".scroll").tabIndex]);
""")
def test_browser_works_by_keyboard_alone(answer):
    buttons, reached, cells_reached, scroll = answer
    assert buttons == 5
    assert reached == ["INPUT", "BUTTON", "BUTTON", "SELECT"]
    assert not cells_reached
    assert scroll == 0


@needs_browser
def test_browser_handles_ten_thousand_rows(tmp_path):
    script = """
    const found = filter("pointwise_9999_");
    filter("");
    head("Cosine").querySelector("button").click();
    answer([found, status(), first()[0], rows().length]);
    """
    report = Report("t", (Table("summary", COLUMNS, Rows(10_000)),))
    found, status, first, shown = evaluate(tmp_path / "page.html", without_policy(render(report)), TOOLS + script)
    assert found == ["rows 1–1 of 1 (of 10,000)", ["autofuse_pointwise_9999_Abs_Add"]]
    assert (status, first, shown) == ("rows 1–100 of 10,000", "autofuse_pointwise_9999_Abs_Add", 100)


@needs_browser
def test_browser_runs_the_page_under_its_policy_and_no_other_script(tmp_path):
    page = tmp_path / "page.html"
    text = render(Report("t", sample_report(100).tables, sample_report().charts))
    page.write_text(text.replace("</body>", "<script>document.title = 'hacked'</script></body>"), encoding="utf-8")
    dom = run_page(page)
    assert "hacked" not in re.search(r"<title>(.*?)</title>", dom)[1]
    assert "rows 1–100 of 119" in dom
    assert dom.count('aria-sort="none"') >= 5


@needs_browser
def test_browser_page_never_scrolls_sideways(tmp_path):
    script = """
    const edges = [document.documentElement, document.querySelector(".controls")].map(node => node.scrollWidth);
    answer([innerWidth, ...edges]);
    """
    widths = {"phone": 360, "window": 800, "screen": 1600}
    page = (without_policy(render(sample_report())), script)
    answers = evaluate_all(tmp_path / "page.html", dict.fromkeys(widths, page), widths=widths)
    for name, width in widths.items():
        window, document, controls = answers[name]
        assert window == width
        assert document <= width
        assert controls <= width


@needs_browser
def test_browser_follows_the_colour_scheme(tmp_path):
    script = """
    const style = selector => getComputedStyle(document.querySelector(selector));
    answer([style("body").backgroundColor, style("td").color]);
    """
    text = without_policy(render(sample_report()))
    assert evaluate(tmp_path / "light.html", text, script) == ["rgb(246, 247, 249)", "rgb(29, 36, 48)"]
    dark = evaluate(tmp_path / "dark.html", text, script, "--blink-settings=preferredColorScheme=0")
    assert dark == ["rgb(15, 19, 24)", "rgb(232, 235, 240)"]
