"""Whatever is wrong with arguments or files: a message, exit status 2, nothing half written."""

import os

import numpy as np
import pytest


@pytest.fixture
def negation(graph, tmp_path):
    graph.tensor("X", [2, 3])
    graph.output("Y")
    graph.pointwise("NEG", ["X"], "Y")
    graph.write()
    np.save(tmp_path / "x.npy", np.ones((2, 3), np.float32))
    return graph


@pytest.mark.parametrize("arguments,part", [
    ([], "subcommand"),
    (["paint"], "paint"),
    (["run"], "graph"),
    (["run", "graph.json", "--colour", "red"], "--colour"),
    (["run", "absent.json"], "absent.json: no such file"),
    (["run", "."], "not a regular file"),
    (["run", "graph.json"], "no --input for 'X' (uid "),
    (["run", "graph.json", "--input"], "--input"),
    (["run", "graph.json", "--input", "X"], "TENSOR=FILE expected"),
    (["run", "graph.json", "--input", "X="], "TENSOR=FILE expected"),
    (["run", "graph.json", "--input", "=x.npy"], "TENSOR=FILE expected"),
    (["run", "graph.json", "--input", "Z=x.npy"], "no input 'Z'; it has 'X' (uid "),
    (["run", "graph.json", "--input", "Y=x.npy"], "no input 'Y'"),
    (["run", "graph.json", "--input", "99=x.npy"], "no input '99'"),
    (["run", "graph.json", "--input", "X=absent.npy"], "absent.npy: no such file"),
    (["run", "graph.json", "--input", "X=graph.json"], "not a .npy file"),
    (["run", "graph.json", "-i", "X=x.npy", "-i", "X=x.npy"], "given twice"),
    (["run", "graph.json", "-i", "X=x.npy", "-o", "Y"], "TENSOR=FILE expected"),
    (["run", "graph.json", "-i", "X=x.npy", "-o", "Z=z.npy"], "no output 'Z'; it has 'Y' (uid "),
    (["run", "graph.json", "-i", "X=x.npy", "-o", "Y=absent/y.npy"], "cannot be written"),
    (["run", "graph.json", "-i", "X=x.npy", "-o", "Y=."], "is a folder"),
    (["run", "graph.json", "-i", "X=x.npy", "--plan", "9999"], "plan 9999"),
    (["run", "graph.json", "-i", "X=x.npy", "--plan", "-1"], "plan -1"),
    (["run", "graph.json", "-i", "X=x.npy", "--plan", "no.such.engine"], "no.such.engine"),
    (["run", "graph.json", "--device", "abacus"], "abacus"),
    (["check", "graph.json", "--seed", "many"], "many"),
    (["check", "graph.json", "--tolerance", "-1"], "-1"),
    (["bench", "graph.json", "--seconds", "0"], "0"),
    (["explain", "graph.json", "--svg", "absent/graph.svg"], "cannot be written"),
    (["devices", "all"], "all"),
])
def test_arguments(warploom, negation, tmp_path, arguments, part):
    before = sorted(os.listdir(tmp_path))
    assert part in warploom(*arguments, expect=2).stderr
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("array,got", [
    (np.ones((3, 2), np.float32), "FLOAT [3, 2]"),
    (np.ones((1, 2, 3), np.float32), "FLOAT [1, 2, 3]"),
    (np.ones((2, 3), np.float64), "DOUBLE [2, 3]"),
    (np.ones((2, 3), np.float16), "HALF [2, 3]"),
    (np.ones((2, 3), np.int32), "INT32 [2, 3]"),
    (np.float32(1), "FLOAT []"),
])
def test_an_array_that_does_not_fit(warploom, negation, tmp_path, array, got):
    np.save(tmp_path / "x.npy", array)
    message = warploom("run", "graph.json", "-i", "X=x.npy", "-o", "Y=y.npy", expect=2).stderr
    assert f"x.npy: tensor 'X' is FLOAT [2, 3]; the file holds {got}" in message
    assert not (tmp_path / "y.npy").exists()


def _header(descr="'<f4'", order="False", shape="(2, 3)", more=""):
    text = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, {more}}}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize("content,part", [
    (b"", "not a .npy file"),
    (b"\x93NUMPY", "not a .npy file"),
    (b"P6 2 3 255 ", "not a .npy file"),
    (b"\x93NUMPY\x07\x00" + bytes(100), "version 7.0"),
    (_header()[:40], "ends within its header"),
    (_header() + bytes(23), "needs"),
    (_header() + bytes(25), "25 follow the header"),
    (_header(descr="'>f4'") + bytes(24), "'>f4'"),
    (_header(descr="'<c16'") + bytes(96), "'<c16'"),
    (_header(descr="'|O'") + bytes(24), "'|O'"),
    (_header(descr="[('a', '<f4')]") + bytes(24), "quoted string"),
    (_header(order="maybe") + bytes(24), "True or False"),
    (_header(shape="(2, -3)") + bytes(24), "negative"),
    (_header(shape="(9223372036854775807, 9223372036854775807)") + bytes(24), "needs more than"),
    (_header(shape="(99999999999999999999999,)") + bytes(24), "too large"),
    (_header(shape="2") + bytes(24), "'(' expected"),
    (_header(more="'extra': 1") + bytes(24), "'extra'"),
    (_header(more="__import__('os').system('touch owned')") + bytes(24), "quoted string"),
])
def test_a_malformed_npy(warploom, negation, tmp_path, content, part):
    (tmp_path / "bad.npy").write_bytes(content)
    message = warploom("run", "graph.json", "-i", "X=bad.npy", "-o", "Y=y.npy", expect=2).stderr
    assert "bad.npy: " in message and part in message
    assert not (tmp_path / "y.npy").exists()


@pytest.mark.parametrize("text", [
    "", "{", "null", "[]", "3", '"graph"', "{}", '{"nodes": 1}', '{"nodes": [1]}',
    '{"nodes": [{}]}', '{"nodes": [{"tag": "TELEPORT"}]}',
    '{"nodes": [{"tag": "POINTWISE", "mode": "NEG", "inputs": {"IN_0": "X"}}]}',
    '{"nodes": [], "tensors": {"X": {"dim": "wide"}}}',
    '{"nodes": [], "tensors": {"X": {"dim": [1e99]}}}',
    '{"nodes": [], "colour": "red"}', "[" * 100000, '{"a":' * 100000, "\xff\xfe",
    '{"nodes": [], "json_version": "9.0"}',
])
def test_malformed_json(warploom, tmp_path, text):
    (tmp_path / "graph.json").write_text(text, encoding="latin-1")
    for command in ("run", "check", "bench", "explain"):
        assert "graph.json: " in warploom(command, "graph.json", expect=2).stderr


@pytest.mark.parametrize("change,part", [
    (lambda d: d["tensors"]["X"].pop("dim"), "X"),
    (lambda d: d["tensors"]["X"].update(stride=[1]), "X"),
    (lambda d: d["tensors"]["X"].update(dim=[2, -3]), "X"),
    (lambda d: d["tensors"]["X"].update(data_type="QUAD"), "QUAD"),
    (lambda d: d["tensors"]["X"].update(data_type="FP4_E2M1"), "X"),
    (lambda d: d["tensors"]["X"].update(dim=[2**40, 2**40], stride=[2**40, 1]), "X"),
    (lambda d: d["tensors"]["Y"].update(dim=[3, 3], stride=[3, 1]), "Y"),
    (lambda d: d["nodes"][0].pop("mode"), "mode"),
    (lambda d: d["nodes"][0].update(mode="NEGATE"), "NEGATE"),
    (lambda d: d["nodes"][0].update(speed=3), "speed"),
    (lambda d: d["nodes"][0]["inputs"].update(IN_0="Q"), "Q"),
    (lambda d: d["nodes"][0]["inputs"].clear(), "IN_0"),
    (lambda d: d["nodes"][0]["inputs"].update(IN_0="Y"), "node0"),  # a cycle
])
def test_a_wrong_graph(warploom, negation, tmp_path, change, part):
    change(negation.description)
    negation.write()
    message = warploom("run", "graph.json", "-i", "X=x.npy", "-o", "Y=y.npy", expect=2).stderr
    assert part in message
    assert not (tmp_path / "y.npy").exists()


def test_an_output_is_replaced_whole_or_not_at_all(warploom, negation, tmp_path):
    (tmp_path / "y.npy").write_text("what was there before")
    np.save(tmp_path / "x.npy", np.ones((3, 2), np.float32))
    warploom("run", "graph.json", "-i", "X=x.npy", "-o", "Y=y.npy", expect=2)
    assert (tmp_path / "y.npy").read_text() == "what was there before"
    np.save(tmp_path / "x.npy", np.ones((2, 3), np.float32))
    warploom("run", "graph.json", "-i", "X=x.npy", "-o", "Y=y.npy")
    assert np.array_equal(np.load(tmp_path / "y.npy"), -np.ones((2, 3)))
    assert sorted(os.listdir(tmp_path)) == ["graph.json", "x.npy", "y.npy"]


def test_no_space_left(warploom, negation, tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    message = warploom("run", "graph.json", "-i", "X=x.npy", "-o", "Y=/dev/full", expect=2).stderr
    assert "/dev/full: " in message


def test_names_do_not_steer_the_terminal(warploom, negation):
    negation.description["tensors"]["X"].update(name="\x1b[2Jgone", dim=[2])
    negation.write()
    message = warploom("run", "graph.json", expect=2).stderr
    assert "gone" in message and "\x1b" not in message
