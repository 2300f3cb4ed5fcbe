"""The built programs, as a user would call them."""

import os
import pathlib
import subprocess

import pytest

from graph_json import GraphJson

ROOT = pathlib.Path(__file__).resolve().parents[2]


def pytest_addoption(parser):
    parser.addoption("--build", default=str(ROOT / "build"), help="the build tree to test")


def _program(request, path):
    program = pathlib.Path(request.config.getoption("--build")).resolve() / path
    if not program.exists():
        pytest.fail(f"{program} is not built")
    return program


@pytest.fixture(scope="session")
def tour(request):
    return _program(request, "examples/example_tour")


@pytest.fixture
def warploom(request, tmp_path):
    """Runs the command-line tool in an empty folder, with no store on disk unless told."""
    program = _program(request, "tools/warploom")

    def run(*arguments, expect=0, environment={}):
        variables = {**os.environ, "WARPLOOM_CACHE": "off", **environment}
        result = subprocess.run([program, *map(str, arguments)], cwd=tmp_path, capture_output=True,
                                text=True, errors="replace", timeout=300, env=variables)
        assert result.returncode == expect, (
            f"warploom {' '.join(map(str, arguments))}\n"
            f"ended with {result.returncode}, not {expect}\n{result.stdout}\n{result.stderr}")
        if expect == 2:
            # One message of the tool's own, and nothing that pretends success.
            assert result.stderr.startswith("warploom: error: "), result.stderr
            assert len(result.stderr.splitlines()) >= 1
        return result

    return run


@pytest.fixture
def graph(tmp_path):
    """An empty graph that is written to graph.json of the test's folder."""
    return GraphJson(tmp_path / "graph.json")
