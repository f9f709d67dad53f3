"""Reading dump graphs: both forms say the same, absent keys are normal, hostile files end in one line and code 2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, List

import numpy as np
import pytest
from autofuse.errors import AutofuseError
from autofuse.testing import run_cli
from autofuse_nwa_precision.graphs import read_graphs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from precision_twins import Runs, attr, desc, dump_name, graph_json, graph_text, npy_bytes, op

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)


def written(folder: Path, text: str, name: str = "graph") -> Path:
    """The text as a file."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@st.composite
def operators(draw: Any) -> List[Any]:
    """Operators with all that is read: inputs, descriptions, mappings, attributes nobody knows."""
    found = []
    for name in draw(st.lists(NAMES, max_size=5)):
        sources = draw(st.lists(st.tuples(NAMES, st.integers(-1, 3)), max_size=3))
        output = desc(
            draw(st.none() | st.tuples(NAMES.filter(lambda text: "\\" not in text), st.integers(0, 3))),
            draw(st.sampled_from(["DT_FLOAT", "DT_BF16", "DT_INT4"])),
            draw(st.sampled_from(["ND", "NC1HWC0"])),
            draw(st.none() | st.lists(st.integers(-1, 99), min_size=1, max_size=4)),
            draw(st.none() | st.lists(st.integers(1, 99), min_size=1, max_size=4)),
        )
        kind = draw(st.sampled_from(["AscBackend", "FusedAscBackend", "Relu", "Data"]))
        inputs = [f"{source}:{index}" for source, index in sources] + draw(st.sampled_from([[], [""]]))
        found.append(op(name, kind, inputs, [output], attrs=[attr("_unread", draw(NAMES))]))
    return found


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(operators(), min_size=1, max_size=3))
def test_text_and_json_say_the_same(tmp_path: Path, graphs: List[Any]) -> None:
    if not any(graphs):
        return
    from_json = read_graphs(written(tmp_path, graph_json(*graphs)))
    assert read_graphs(written(tmp_path, graph_text(*graphs))) == from_json
    assert [[operator.name for operator in graph.operators] for graph in from_json] == [
        [tree["name"] for tree in ops] for ops in graphs
    ]


def test_inputs_are_split_at_the_last_colon_and_only_data_counts(tmp_path: Path) -> None:
    text = graph_json([op("af", "AscBackend", ["scope:a:1", "", "ctl:-1", "b:0"], [desc(("r", 0))])])
    (graph,) = read_graphs(written(tmp_path, text))
    sources = [(source.node, source.index) for source in graph.operators[0].inputs]
    assert sources == [("scope:a", 1), ("b", 0)]


def test_integers_may_be_strings_and_zeros_absent(tmp_path: Path) -> None:
    attrs = [
        {"key": "_datadump_origin_name", "value": {"s": "relu"}},
        {"key": "_datadump_origin_output_index", "value": {}},
        {"key": "origin_shape", "value": {"list": {"i": ["2", "3"]}}},
    ]
    named = [{**attrs[0]}, {"key": "_datadump_origin_output_index", "value": {"i": "2"}}]
    ops = [
        {"name": "af", "type": "AscBackend", "output_desc": [{"attr": attrs}]},
        {"name": "as_map", "output_desc": [{"attr": {"_datadump_origin_name": {"s": "x"}}}, {"attr": named}]},
        {},
    ]
    (graph,) = read_graphs(written(tmp_path, json.dumps({"graph": [{"op": ops}]})))
    first = graph.operators[0].output_descs[0]
    assert first.origin is not None
    assert (first.origin.index, first.origin_shape, first.shape) == (0, (2, 3), None)
    second = graph.operators[1].output_descs[1]
    assert second.origin is not None
    assert second.origin.index == 2


@pytest.mark.parametrize("form", ["json", "text"])
@pytest.mark.parametrize("name", ["re\\lu", "layer/re.lu x", "a\\\\b", "tab\\there"])
def test_c_escaped_names_find_their_operator(runs: Runs, form: str, name: str) -> None:
    """The value may be C-escaped or not; the operator of the other graph decides."""
    values = np.ones(3, "f4")
    runs.text = form == "text"
    escaped = name.replace("\\", "\\\\")
    runs.pair(values, values, origin=name, open_desc=desc((escaped, 0)))
    runs.pair(values, values, name="af_1", origin=name, open_desc=desc((name, 0)))
    runs.close_ops.pop()
    rows = runs.rows(code=0)
    assert [row["origin_op_name"] for row in rows] == [name, name]


def test_all_graphs_of_a_file_are_read(runs: Runs) -> None:
    values = np.ones(3, "f4")
    runs.pair(values, values)
    runs.pair(values, values, name="af_1", origin="r1")
    arguments = runs.arguments()
    for name, write in (("open.json", graph_json), ("open.txt", graph_text)):
        # The second graph repeats an operator of the first: it is the same one, not a second row.
        (runs.root / name).write_text(write([], runs.open_ops[:1], runs.open_ops), encoding="utf-8")
        arguments[0] = f"--af-open-graph={runs.root / name}"
        result = run_cli("run", "precision", *arguments, "-f", "jsonl")
        assert [json.loads(line)["fused_op_name"] for line in result.stdout.splitlines()] == ["af_0", "af_1"]


def refused(runs: Runs, content: bytes, *words: str) -> None:
    """As open graph, and as close graph, the file is refused with exit code 2 and one line that names it."""
    arguments = runs.arguments()
    path = runs.root / "hostile"
    path.write_bytes(content)
    for place, option in ((0, "--af-open-graph"), (1, "--af-close-graph")):
        result = run_cli("run", "precision", *arguments[:place], f"{option}={path}", *arguments[place + 1 :])
        assert (result.exit_code, result.stdout) == (2, ""), result.stderr
        assert result.stderr.count("\n") == 1
        for word in (str(path), *words):
            assert word in result.stderr


@pytest.fixture
def whole(runs: Runs) -> Runs:
    """Runs that compare well."""
    runs.pair(np.ones(3, "f4"), np.ones(3, "f4"))
    return runs


def test_a_graph_cut_anywhere_is_refused(whole: Runs) -> None:
    whole.arguments()
    for write in (graph_json, graph_text):
        text = write(whole.open_ops).encode()
        for cut in range(0, len(text.rstrip()) - 1, 13):
            path = whole.root / "cut"
            path.write_bytes(text[:cut])
            with pytest.raises(AutofuseError) as caught:
                read_graphs(path)
            assert caught.value.exit_code == 2
    refused(whole, text[: len(text) // 2], ":", "the file ends too early")


@pytest.mark.parametrize(
    "content,words",
    [
        (b"", "empty"),
        (b" \n ", "empty"),
        (npy_bytes(np.ones(3)), "npy file"),
        (b"\x10\0\0\0\0\0\0\0\x0a\x03abc", "binary"),
        (b'{"graph": 1}', "no graph with operators"),
        (b'{"graph": [[1, null, {"op": "x"}]]}', "no graph with operators"),
        (b"[1, 2]", "no object"),
        (b'{"graph": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"graph": [{"op": [{"name": ' + b"9" * 10_000 + b"}]}]}", "no JSON"),
        (b"Plain prose, as in a README file.", "is no GE graph"),
        (b"[INFO] GE(1,atc):2024-01-01 line of a log", "is no whole JSON"),
        (b'graph { op { name: "' + b'a\\"' * 10_000, "ends inside a string"),
        (b"graph { x {" + b"{" * 100_000, "ends inside"),
        (b"graph: {", "ends inside"),
        (b"name: [1, 2", "is no GE graph"),
        (b"} graph {}", "is no GE graph"),
        (b'op_type: "x" \xff\xfe\xfd', "is no GE graph"),
    ],
)
def test_hostile_graphs(whole: Runs, content: bytes, words: str) -> None:
    refused(whole, content, words)


def test_wrong_kinds_swapped_on_the_command_line(whole: Runs) -> None:
    graphs, folders = whole.arguments()[:2], whole.arguments()[2:]
    paths = [argument.partition("=")[2] for argument in (*graphs, *folders)]
    dump = next((whole.root / "open").glob("*.npy"))
    for option, path, words in [
        ("--af-open-graph", paths[2], "is a folder, not a graph"),
        ("--af-open-graph", str(dump), "is an npy file, not a graph"),
        ("--af-open-graph", "/nowhere/at all", "no such file"),
        ("--af-open-data", paths[0], "is a file, not a folder of dumps"),
        ("--af-close-data", str(dump), "is a file, not a folder of dumps"),
        ("--af-close-data", "/nowhere", "no such folder"),
        ("--noise-data", paths[1], "is a file, not a folder of dumps"),
        ("--tolerance", paths[1], "is no TOML"),
        ("--tolerance", paths[2], "cannot be read"),
    ]:
        result = run_cli("run", "precision", *whole.arguments(), option, path)
        assert (result.exit_code, result.stdout) == (2, ""), (option, result.stderr)
        assert words in result.stderr


def test_graphs_swapped_say_which_one_is_expected(whole: Runs) -> None:
    open_graph, close_graph, *data = whole.arguments()
    (opened, open_path), (closed, close_path) = (graph.split("=", 1) for graph in (open_graph, close_graph))
    swapped = [f"{opened}={close_path}", f"{closed}={open_path}"]
    result = run_cli("run", "precision", *swapped, *data)
    assert result.exit_code == 2
    assert "is it the graph with fusion on?" in result.stderr


def test_folder_without_a_dump(whole: Runs) -> None:
    (whole.root / "empty").mkdir()
    (whole.root / "foreign").mkdir()
    (whole.root / "foreign" / "notes.txt").write_text("x")
    (whole.root / "foreign" / "Opdebug.Node_OpDebug.1.2.1700000000000000").write_text("x")
    for folder, words in (("empty", "it is empty"), ("foreign", "none of its 2 files is a dump")):
        result = run_cli("run", "precision", *whole.arguments(), "--af-open-data", whole.root / folder)
        assert result.exit_code == 2
        assert words in result.stderr


def test_only_the_named_operators_are_compared(whole: Runs) -> None:
    whole.pair(np.ones(3, "f4"), np.ones(3, "f4"), name="[x]/*", origin="r1")
    assert len(whole.rows("--op", "af_*")) == 1
    assert len(whole.rows("--op", "[x]/*")) == 1
    assert len(whole.rows("--op", "af_0", "--op", "*")) == 2
    result = whole.run("--op", "nothing*")
    assert result.exit_code == 2
    assert "no fused operator matches nothing*" in result.stderr


def test_names_are_never_patterns_or_paths(runs: Runs) -> None:
    values = np.ones(3, "f4")
    for number, name in enumerate(["*", "[a-z]*", "../../etc/passwd", "$(id)", "a?b", "名字/算子", "%s{}"]):
        runs.pair(values, values, name=name, origin=f"r{number}")
    runs.pair(None, values, name="a*", origin="r9")
    rows = runs.rows(code=1)
    assert [row["verdict"] for row in rows] == ["pass"] * 7 + [None]
    assert dump_name("AscBackend", "../../etc/passwd").startswith("AscBackend.______etc_passwd.")
