"""`warploom run`: results against NumPy."""

import numpy as np
import pytest

from graph_json import channels_last
from numpy_reference import attention, convolution, from_bfloat16_bits, gelu, to_bfloat16_bits

RANDOM = np.random.default_rng(1)


def uniform(*dims, dtype=np.float32):
    return RANDOM.uniform(-1, 1, dims).astype(dtype)


def save(folder, **arrays):
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return [argument for name in arrays for argument in ("--input", f"{name}={name}.npy")]


def assert_close(got, wanted, tolerance):
    assert got.shape == wanted.shape
    scale = np.maximum(np.abs(wanted), np.sqrt(np.mean(wanted.astype(np.float64) ** 2)))
    error = np.max(np.abs(got.astype(np.float64) - wanted) / scale)
    assert error <= tolerance


def convolution_graph(graph, x, w, bias):
    graph.tensor("X", x.shape, channels_last(x.shape))
    graph.tensor("W", w.shape, channels_last(w.shape))
    graph.tensor("bias", bias.shape, channels_last(bias.shape))
    graph.node("CONV_FPROP", {"X": "X", "W": "W"}, {"Y": "convolved"}, pre_padding=[1, 1],
               post_padding=[1, 1], stride=[2, 2], dilation=[1, 1], math_mode="CROSS_CORRELATION")
    graph.pointwise("ADD", ["convolved", "bias"], "sum")
    graph.output("Y")
    graph.pointwise("RELU_FWD", ["sum"], "Y")
    return graph.write()


def test_convolution_bias_relu(warploom, graph, tmp_path):
    x, w, bias = uniform(2, 5, 13, 11), uniform(7, 5, 3, 3), uniform(1, 7, 1, 1)
    convolution_graph(graph, x, w, bias)
    result = warploom("run", "graph.json", *save(tmp_path, X=x, W=w, bias=bias), "--output",
                      "Y=y.npy")
    assert "Y FLOAT [2, 7, 7, 6]" in result.stdout
    wanted = np.maximum(convolution(x, w, padding=1, stride=2) + bias, 0)
    assert_close(np.load(tmp_path / "y.npy"), wanted, 1e-5)


@pytest.mark.parametrize("plan", ["0", "reference", "last"])
def test_any_plan_by_index_or_name(warploom, graph, tmp_path, plan):
    a, b = uniform(3, 17, 33), uniform(3, 33, 9)
    graph.tensor("A", a.shape)
    graph.tensor("B", b.shape)
    graph.output("C")
    graph.node("MATMUL", {"A": "A", "B": "B"}, {"C": "C"})
    graph.write()
    inputs = save(tmp_path, A=a, B=b)
    if plan == "last":
        import json
        plans = json.loads(warploom("bench", "graph.json", "--json", "--seconds", "0.05").stdout)
        plan = plans["plans"][-1]["name"]
    warploom("run", "graph.json", *inputs, "--plan", plan, "--output", "C=c.npy")
    assert_close(np.load(tmp_path / "c.npy"), a.astype(np.float64) @ b, 1e-5)


def test_matmul_epilogue_with_two_outputs(warploom, graph, tmp_path):
    a, b, bias = uniform(2, 20, 65), uniform(1, 65, 30), uniform(1, 1, 30)
    graph.tensor("A", a.shape)
    graph.tensor("B", b.shape)
    graph.tensor("bias", bias.shape)
    graph.scalar("scale", 0.25)
    graph.node("MATMUL", {"A": "A", "B": "B"}, {"C": "product"})
    graph.pointwise("MUL", ["product", "scale"], "scaled")
    graph.pointwise("ADD", ["scaled", "bias"], "sum")
    graph.output("Y")
    graph.pointwise("GELU_FWD", ["sum"], "Y")
    graph.output("amax", dim=[1, 1, 1], stride=[1, 1, 1])
    graph.node("REDUCTION", {"X": "Y"}, {"Y": "amax"}, mode="AMAX")
    graph.write()
    warploom("run", "graph.json", *save(tmp_path, A=a, B=b, bias=bias), "-o", "Y=y.npy", "-o",
             "amax=amax.npy")
    wanted = gelu(0.25 * (a.astype(np.float64) @ b) + bias)
    assert_close(np.load(tmp_path / "y.npy"), wanted, 1e-5)
    assert_close(np.load(tmp_path / "amax.npy"), np.abs(wanted).max().reshape(1, 1, 1), 1e-5)


def test_causal_attention(warploom, graph, tmp_path):
    q, k, v = (uniform(2, 3, 40, 16) for _ in range(3))
    for name in "QKV":
        graph.tensor(name, q.shape)
    graph.output("O", dim=list(q.shape), stride=[3 * 40 * 16, 40 * 16, 16, 1])
    graph.node("SDPA", {"Q": "Q", "K": "K", "V": "V"}, {"O": "O"}, generate_stats=False,
               attn_scale_value="3E800000", right_bound=0, diagonal_alignment="TOP_LEFT")
    graph.write()
    warploom("run", "graph.json", *save(tmp_path, Q=q, K=k, V=v), "-o", "O=o.npy")
    assert_close(np.load(tmp_path / "o.npy"), attention(q, k, v, 0.25, causal=True), 1e-5)


@pytest.mark.parametrize("name,dtype,tolerance", [("HALF", np.float16, 1e-3),
                                                  ("FLOAT", np.float32, 1e-6),
                                                  ("DOUBLE", np.float64, 1e-12),
                                                  ("INT8", np.int8, 0), ("UINT8", np.uint8, 0),
                                                  ("INT32", np.int32, 0), ("INT64", np.int64, 0)])
def test_every_data_type(warploom, graph, tmp_path, name, dtype, tolerance):
    a, b = ((RANDOM.uniform(0, 50, (3, 7))).astype(dtype) for _ in range(2))
    graph.description["context"]["compute_data_type"] = {
        "DOUBLE": "DOUBLE", "INT32": "INT32", "INT64": "INT64"}.get(name, "FLOAT")
    for tensor in "AB":
        graph.tensor(tensor, a.shape, data_type=name)
    graph.output("C", data_type=name)
    graph.pointwise("MAX", ["A", "B"], "C")
    graph.write()
    warploom("run", "graph.json", *save(tmp_path, A=a, B=b), "-o", "C=c.npy")
    got = np.load(tmp_path / "c.npy")
    assert got.dtype == dtype
    assert_close(got, np.maximum(a, b), tolerance)


def test_booleans(warploom, graph, tmp_path):
    a, b = uniform(5, 6), uniform(5, 6)
    for tensor in "AB":
        graph.tensor(tensor, a.shape)
    graph.output("C", data_type="BOOLEAN")
    graph.pointwise("CMP_GT", ["A", "B"], "C")
    graph.write()
    warploom("run", "graph.json", *save(tmp_path, A=a, B=b), "-o", "C=c.npy")
    got = np.load(tmp_path / "c.npy")
    assert got.dtype == np.bool_ and np.array_equal(got, a > b)


def test_bfloat16_comes_as_its_bits(warploom, graph, tmp_path):
    a = to_bfloat16_bits(uniform(4, 9))
    graph.tensor("A", a.shape, data_type="BFLOAT16")
    graph.output("Y", data_type="BFLOAT16")
    graph.pointwise("NEG", ["A"], "Y")
    graph.write()
    for bits in (a, a.view("V2")):
        np.save(tmp_path / "a.npy", bits)
        warploom("run", "graph.json", "-i", "A=a.npy", "-o", "Y=y.npy")
        got = np.load(tmp_path / "y.npy")
        assert got.dtype == np.dtype("V2")
        assert np.array_equal(from_bfloat16_bits(got.view(np.uint16)), -from_bfloat16_bits(a))


def test_strides_of_the_graph_and_order_of_the_file(warploom, graph, tmp_path):
    """The file's order and the graph's strides are two things."""
    x = uniform(4, 5, 6)
    graph.tensor("X", x.shape, strides=[1, 7 * 4 + 3, 4])  # padded, the first dimension fastest
    graph.output("Y", dim=[4, 5, 6], stride=[100, 1, 7])
    graph.pointwise("ABS", ["X"], "Y")
    graph.write()
    for array in (x, np.asfortranarray(x)):
        warploom("run", "graph.json", *save(tmp_path, X=array), "-o", "Y=y.npy")
        assert np.array_equal(np.load(tmp_path / "y.npy"), np.abs(x))


def test_stride_zero_repeats(warploom, graph, tmp_path):
    x = np.repeat(uniform(1, 6), 4, axis=0)
    graph.tensor("X", x.shape, strides=[0, 1])
    graph.output("Y")
    graph.pointwise("NEG", ["X"], "Y")
    graph.write()
    warploom("run", "graph.json", *save(tmp_path, X=x), "-o", "Y=y.npy")
    assert np.array_equal(np.load(tmp_path / "y.npy"), -x)
    message = warploom("run", "graph.json", *save(tmp_path, X=uniform(4, 6)), expect=2).stderr
    assert "share memory" in message


def test_uids_and_scalars_of_the_host(warploom, graph, tmp_path):
    x = uniform(3, 4)
    graph.tensor("same", x.shape, uid=11)
    graph.tensor("factor", [1], data_type="FLOAT", uid=12, is_pass_by_value=True)
    graph.output("Y", uid=13, uid_assigned=True)
    graph.pointwise("MUL", ["same", "factor"], "Y")
    graph.write()
    np.save(tmp_path / "x.npy", x)
    for factor in (np.float32(3), np.full((1, 1), 3, np.float32)):
        np.save(tmp_path / "f.npy", factor)
        warploom("run", "graph.json", "-i", "11=x.npy", "-i", "factor=f.npy", "-o", "13=y.npy")
        assert np.array_equal(np.load(tmp_path / "y.npy"), x * np.float32(3))


def test_nothing_to_compute(warploom, graph, tmp_path):
    graph.tensor("X", [0, 4])
    graph.output("Y")
    graph.pointwise("NEG", ["X"], "Y")
    graph.write()
    warploom("run", "graph.json", *save(tmp_path, X=np.zeros((0, 4), np.float32)), "-o", "Y=y.npy")
    assert np.load(tmp_path / "y.npy").shape == (0, 4)
