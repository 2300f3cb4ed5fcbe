"""check, bench, explain, devices, and the help."""

import json
import os
import pty
import re
import shlex
import subprocess
import xml.etree.ElementTree

import pytest


@pytest.fixture
def projection(graph):
    graph.tensor("A", [2, 24, 48])
    graph.tensor("B", [1, 48, 40])
    graph.tensor("bias", [1, 1, 40])
    graph.node("MATMUL", {"A": "A", "B": "B"}, {"C": "product"})
    graph.pointwise("ADD", ["product", "bias"], "sum")
    graph.output("Y")
    graph.pointwise("TANH_FWD", ["sum"], "Y")
    graph.write()
    return graph


def test_check_agrees(warploom, projection):
    output = warploom("check", "graph.json", "--seed", "3").stdout
    passed, total = map(int, re.search(r"(\d+) of (\d+) plans agree", output).groups())
    assert passed == total >= 2
    assert output.count("Y FLOAT [2, 24, 40]: error ") == total


def test_check_names_what_differs_and_how_to_repeat_it(warploom, projection):
    output = warploom("check", "graph.json", "--tolerance", "0", expect=1).stdout
    repeats = re.findall(r"^repeat with: warploom (.*)$", output, re.MULTILINE)
    assert repeats and output.count("FAILED") == len(repeats)
    again = warploom(*shlex.split(repeats[0]), expect=1).stdout
    assert re.findall("worst at .*", again)[0] in output


def test_check_fills_lengths_within_their_range(warploom, graph):
    for name in "QKV":
        graph.tensor(name, [3, 2, 20, 8])
    for name in ("lengths_q", "lengths_kv"):
        graph.tensor(name, [3, 1, 1, 1], data_type="INT32")
    graph.output("O", dim=[3, 2, 20, 8], stride=[320, 160, 8, 1])
    graph.node("SDPA", {"Q": "Q", "K": "K", "V": "V", "SEQ_LEN_Q": "lengths_q",
                        "SEQ_LEN_KV": "lengths_kv"}, {"O": "O"}, generate_stats=False,
               padding_mask=True, attn_scale_value="3E800000")
    graph.write()
    warploom("check", "graph.json")


def test_bench_lists_every_plan_fastest_first(warploom, projection):
    result = json.loads(warploom("bench", "graph.json", "--json", "--seconds", "0.2").stdout)
    times = [plan["median_microseconds"] for plan in result["plans"]]
    assert len(times) >= 2 and times == sorted(times) and times[0] > 0
    assert result["operations"] == 2 * 2 * 24 * 48 * 40
    for plan in result["plans"]:
        assert plan["gflop_per_second"] == pytest.approx(
            result["operations"] / plan["median_microseconds"] * 1e-3)
    table = warploom("bench", "graph.json", "--seconds", "0.2").stdout
    assert len(table.splitlines()) == len(times) + 1
    for plan in result["plans"]:
        assert plan["name"] in table
    one = warploom("bench", "graph.json", "--seconds", "0.1", "--plan", "1", "--json").stdout
    assert [plan["index"] for plan in json.loads(one)["plans"]] == [1]


def test_explain_and_its_drawing(warploom, projection, tmp_path):
    output = warploom("explain", "graph.json", "--svg", "graph.svg").stdout
    for word in ("cpu.gemm", "workspace", "node0"):
        assert word in output
    drawing = xml.etree.ElementTree.parse(tmp_path / "graph.svg").getroot()
    assert drawing.tag.endswith("svg")
    text = " ".join(drawing.itertext())
    for word in ("A", "bias", "TANH_FWD"):
        assert word in text


def test_devices(warploom):
    output = warploom("devices").stdout
    assert re.search(r"^cpu +\S.*\d+ threads?$", output, re.MULTILINE)
    assert re.search(r"^cuda +\S", output, re.MULTILINE)


@pytest.mark.parametrize("command,words", [
    ([], ["run", "check", "bench", "explain", "devices", "--version", "Exit status"]),
    (["run"], ["GRAPH.json", "--input", "--output", "TENSOR=FILE.npy", "--plan", "--device",
               "Example"]),
    (["check"], ["--seed", "--tolerance", "--plan", "repeats"]),
    (["bench"], ["--json", "--seconds", "GFLOP/s"]),
    (["explain"], ["--svg"]),
    (["devices"], ["devices"]),
])
def test_help(warploom, command, words):
    output = warploom(*command, "--help").stdout
    for word in words:
        assert word in output


def test_version(warploom):
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", warploom("--version").stdout)


def read_all(terminal):
    """A read of a terminal gives some of what there is, and an error at its end."""
    parts = []
    try:
        while part := os.read(terminal, 1 << 16):
            parts.append(part)
    except OSError:
        pass
    return b"".join(parts)


def test_progress_is_shown_on_a_terminal_only(warploom, graph, tmp_path, request):
    graph.tensor("A", [1, 600, 1500])
    graph.tensor("B", [1, 1500, 600])
    graph.output("C")
    graph.node("MATMUL", {"A": "A", "B": "B"}, {"C": "C"})
    graph.write()
    build = os.path.abspath(request.config.getoption("--build"))
    command = [os.path.join(build, "tools", "warploom"), "bench", "graph.json", "--seconds", "2.5"]
    terminal, end = pty.openpty()
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=end) as process:
        os.close(end)
        shown = read_all(terminal).decode()
    os.close(terminal)
    assert process.returncode == 0
    assert re.search(r"\d s  timing ", shown)
    assert shown.endswith("\x1b[K"), "the line is gone at the end"
    quiet = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert quiet.stderr == b""
