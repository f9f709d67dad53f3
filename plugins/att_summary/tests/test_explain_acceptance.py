"""Why a template was chosen and why an objective moved, by numbers worked out by hand; charts count nothing twice."""

from __future__ import annotations

import json
import re

import pytest

GROUP = "graph0_result0_g0"


def plog(operator, *texts):
    head = "[INFO] GE(7,app):2026-01-02-03:04:05.006.007 [x.cpp:5]7 Fn:"
    return "".join(f"{head}[{operator}]{text}\n" for text in texts)


def candidate(tag, objective, group=GROUP, **pipes):
    lines = [f"[PROF]The value of {name} is {value:.6f} in {group}_{tag}." for name, value in pipes.items()]
    return [*lines, f"[PROF]The objective value of the tiling data is {objective:.6f} in {group}_{tag}."]


def choice(tag, group=GROUP):
    return f"[PROF]Among the templates, tiling case {tag} of {group} is the best choice."


def one_call(operator, *lines):
    return plog(operator, "Start GetTiling.", *lines, "End GetTiling.")


def two_groups(operator, first, second, perf):
    """Two groups of one result; the result's performance is told once and belongs to both."""
    lines = []
    for number, objective in enumerate((first, second)):
        group = f"graph0_result0_g{number}"
        lines += [*candidate("0", objective, group, AIV_MTE2=objective - 10), choice("0", group)]
    end = [f"The value of graph0_result0 is {perf:.6f}"]
    return one_call(operator, *lines, *end, "[PROF]Among all schedule results, graph0_result0 is the best choice.")


@pytest.fixture
def run(autofuse_cli, tmp_path):
    """run(command, logs, format) → the text of each file that was written."""

    def start(command, logs, output_format):
        for name, text in logs.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        out = tmp_path / "out"
        places = [tmp_path / name for name in logs]
        outcome = autofuse_cli("run", command, *places, "-f", output_format, "-o", f"{out}/")
        assert outcome.exit_code == 0, outcome.stderr
        return {path.stem: path.read_text("utf-8") for path in out.iterdir()}

    return start


def rows(text):
    return [json.loads(line) for line in text.splitlines()]


LADDER = one_call(
    "A<b>&\"'算子",
    *candidate("0", 130.0, AIV_MTE2=100.0, AIV_VEC=50.0),
    *candidate("1", 125.5, AIV_MTE2=90.0, AIV_VEC=95.0),
    *candidate("R0", 310.0, AIV_MTE2=300.0),
    *candidate("2", float("nan"), AIV_MTE2=float("nan")),
    choice("0"),
)


def test_bottleneck_head_cost_runner_up_and_gap(run):
    (row,) = rows(run("summary", {"a.log": LADDER}, "jsonl")["explain"])
    assert (row["template"], row["bottleneck_pipe"], row["candidates"], row["runner_up"]) == ("0", "AIV_MTE2", 3, "1")
    assert row["bottleneck_share"] == pytest.approx(100 / 1.3)
    assert row["head_cost_share"] == pytest.approx(30 / 1.3)
    # The score decided against the objective.
    assert row["gap"] == -4.5
    assert row["gap_percent"] == pytest.approx(-450 / 130)
    assert (row["source"][-5:], row["line"]) == ("a.log", 2)


def test_ladder_has_every_candidate_and_marks_the_chosen_one(run):
    (drawing,) = run("summary", {"a.log": LADDER}, "svg").values()
    ladder = re.sub(r"<[^>]*>", "\n", drawing[drawing.index("Candidates of A&lt;b&gt;&amp;") :])
    labels = [line for line in ladder.split("\n") if "case" in line and ":" not in line]
    assert list(dict.fromkeys(labels)) == ["case 1", "★ case 0", "case R0"]


def test_the_change_of_an_objective_is_that_of_its_pipe_and_its_head_cost(run):
    logs = {
        "a.log": one_call("Op", *candidate("0", 150.0, AIV_MTE2=100.0, AIV_MTE3=120.0, AIV_VEC=7.0), choice("0")),
        "b.log": one_call("Op", *candidate("R2", 245.0, AIV_MTE2=200.0, AIV_MTE3=110.0, AIV_VEC=7.5), choice("R2")),
    }
    (row,) = rows(run("compare", logs, "jsonl")["performance"])
    assert (row["base_template"], row["candidate_template"], row["difference"]) == ("0", "R2", 95.0)
    assert row["explanation"] == (
        "objective +95 = bottleneck AIV_MTE3 → AIV_MTE2 +80, head cost +15; AIV_VEC +0.5 does not bound it"
    )
    assert (row["base_source"][-5:], row["base_line"]) == ("a.log", 2)
    assert (row["candidate_source"][-5:], row["candidate_line"]) == ("b.log", 2)


def test_waterfall_counts_a_result_once_whatever_its_groups(run):
    logs = {
        "a.log": two_groups("Two", 500.0, 300.0, 800.0) + one_call("One", *candidate("0", 50.0), choice("0")),
        "b.log": two_groups("Two", 550.0, 360.0, 910.0) + one_call("One", *candidate("0", 40.0), choice("0")),
    }
    (drawing,) = run("compare", logs, "svg").values()
    texts = [text for text in re.sub(r"<[^>]*>", "\n", drawing).split("\n") if text]
    assert "Two graph0_result0" in texts
    assert "+110" in texts
    assert "-10" in texts
    assert texts[texts.index("sum") :].count("100") >= 1
    # A label may have its text as a tooltip too.
    assert [text for text in dict.fromkeys(texts) if text.startswith("Two ") and ":" not in text] == [
        "Two graph0_result0"
    ]
