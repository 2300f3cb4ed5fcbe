"""The gradients of operations.py, to which the reference engine is held, against JAX where it is there."""

import numpy as np
import pytest

import operations

RANDOM = np.random.default_rng(7)


def normal(*shape):
    return RANDOM.normal(size=shape)


@pytest.fixture(scope="module")
def jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax


def expect_equal(found, expected):
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-9, atol=1e-11)


ACTIVATIONS = {
    "RELU": lambda nn, x: nn.relu(x),
    "TANH": lambda nn, x: nn.tanh(x),
    "SIGMOID": lambda nn, x: nn.sigmoid(x),
    "ELU": lambda nn, x: nn.elu(x),
    "GELU": lambda nn, x: nn.gelu(x, approximate=False),
    "GELU_APPROX_TANH": lambda nn, x: nn.gelu(x, approximate=True),
    "SOFTPLUS": lambda nn, x: nn.softplus(x),
    "SWISH": lambda nn, x: nn.silu(x),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name, jax):
    x, dy = 3 * normal(64), normal(64)
    y, back = jax.vjp(lambda x: ACTIVATIONS[name](jax.nn, x), x)
    expect_equal(operations.UNARY[f"{name}_FWD"]({}, x), y)
    expect_equal(operations.BINARY[f"{name}_BWD"]({}, dy, x), back(dy)[0])


# images, channels, filters, groups, image, window, pre and post padding, stride, dilation
CONVOLUTIONS = [
    (2, 3, 4, 1, (9, 8), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)),
    (2, 3, 4, 1, (9, 8), (1, 1), (0, 0), (0, 0), (2, 2), (1, 1)),
    (1, 6, 4, 2, (10, 11), (3, 2), (2, 0), (1, 3), (2, 3), (1, 2)),
    (1, 4, 4, 4, (7, 7), (3, 3), (1, 1), (1, 1), (2, 2), (1, 1)),
    (2, 2, 3, 1, (12,), (4,), (3,), (0,), (3,), (2,)),
    (1, 2, 3, 1, (5, 6, 4), (3, 2, 1), (1, 0, 0), (0, 1, 0), (2, 1, 3), (1, 2, 1)),
]


def convolution_problem(case):
    images, channels, filters, groups, image, window, pre, post, stride, dilation = case
    node = {"pre_padding": pre, "post_padding": post, "stride": stride, "dilation": dilation,
            "math_mode": "CROSS_CORRELATION"}
    return node, normal(images, channels, *image), normal(filters, channels // groups, *window), groups


@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolutions(case, jax):
    node, x, w, groups = convolution_problem(case)
    y, back = jax.vjp(lambda x, w: jax.lax.conv_general_dilated(
        x, w, node["stride"], list(zip(node["pre_padding"], node["post_padding"])),
        rhs_dilation=node["dilation"], feature_group_count=groups), x, w)
    dy = normal(*y.shape)
    dx, dw = back(dy)
    expect_equal(operations.convolution(node, {"X": x, "W": w}, {}, {})["Y"], y)
    expect_equal(operations.convolution_image_gradient(
        node, {"DY": dy, "W": w}, {"DX": {"dim": list(x.shape)}}, {})["DX"], dx)
    expect_equal(operations.convolution_filter_gradient(
        node, {"DY": dy, "X": x}, {"DW": {"dim": list(w.shape)}}, {})["DW"], dw)


# tag, dims of X, dims of SCALE
NORMALIZATIONS = [
    ("LAYER_NORM", (3, 4, 7), (1, 1, 7)),
    ("LAYER_NORM", (3, 4, 7), (1, 4, 7)),
    ("LAYER_NORM", (3, 5, 4, 2), (1, 5, 1, 1)),
    ("ADA_LAYER_NORM", (3, 4, 7), (3, 1, 7)),
    ("RMS_NORM", (3, 4, 7), (1, 1, 7)),
    ("INSTANCE_NORM", (3, 5, 4, 2), (1, 5, 1, 1)),
    ("BATCHNORM", (3, 5, 4, 2), (1, 5, 1, 1)),
    ("BATCHNORM", (9, 5), (1, 5)),
]
EPSILON = 0.125


def normalization_problem(tag, x_dims, scale_dims):
    """Inputs, and the gradients that operations.py makes of them with saved statistics."""
    inputs = {"X": 2 + normal(*x_dims), "SCALE": normal(*scale_dims), "BIAS": normal(*scale_dims),
              "EPSILON": np.array([EPSILON])}
    saved = operations.TABLE[tag]({"tag": tag}, inputs, {}, {})
    dy = normal(*x_dims)
    backward = "DBN" if tag == "BATCHNORM" else f"{tag}_BPROP"
    given = {port: inputs[port] for port in ("X", "SCALE")} | {
        "DY": dy, "MEAN": saved["MEAN"], "INV_VARIANCE": saved["INV_VARIANCE"]}
    return inputs, saved["Y"], dy, operations.TABLE[backward]({"tag": backward}, given, {}, {})


@pytest.mark.parametrize("tag, x_dims, scale_dims", NORMALIZATIONS)
def test_normalizations(tag, x_dims, scale_dims, jax):
    inputs, y, dy, gradients = normalization_problem(tag, x_dims, scale_dims)
    axes = {"INSTANCE_NORM": tuple(range(2, len(x_dims))),
            "BATCHNORM": tuple(i for i in range(len(x_dims)) if i != 1),
            "ADA_LAYER_NORM": (2,)}.get(
                tag, tuple(i for i, dim in enumerate(scale_dims) if dim != 1))

    def forward(x, scale, bias):
        mean = 0 if tag == "RMS_NORM" else x.mean(axes, keepdims=True)
        variance = ((x - mean) ** 2).mean(axes, keepdims=True)
        return (x - mean) / jax.numpy.sqrt(variance + EPSILON) * scale + bias

    found, back = jax.vjp(forward, *(inputs[port] for port in ("X", "SCALE", "BIAS")))
    expect_equal(y, found)
    for port, expected in zip(("DX", "DSCALE", "DBIAS"), back(dy)):
        expect_equal(gradients[port], expected)
