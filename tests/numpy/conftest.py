import subprocess

import pytest


def pytest_addoption(parser):
    parser.addoption("--write-cases", required=True, help="the program write_cases")


@pytest.fixture(scope="session")
def records(request, tmp_path_factory):
    """The folder in which write_cases left its files."""
    folder = tmp_path_factory.mktemp("records")
    subprocess.run([request.config.getoption("--write-cases"), folder], check=True)
    return folder
