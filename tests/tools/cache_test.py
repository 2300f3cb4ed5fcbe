"""`warploom tune` and `warploom cache`."""

import os
import re

import pytest


@pytest.fixture
def cache(warploom, tmp_path):
    """The tool with a store in the folder `cache`."""
    variables = {"WARPLOOM_CACHE": "on", "WARPLOOM_CACHE_DIR": str(tmp_path / "cache")}

    def run(*arguments, expect=0, **more):
        return warploom(*arguments, expect=expect, environment={**variables, **more})

    return run


@pytest.fixture
def product(graph):
    graph.tensor("A", [1, 24, 48])
    graph.tensor("B", [1, 48, 40])
    graph.output("C")
    graph.node("MATMUL", {"A": "A", "B": "B"}, {"C": "C"})
    graph.write()
    return graph


def entries(cache, *arguments):
    output = cache("cache", "list", *arguments).stdout
    return {store: int(count)
            for store, count in re.findall(r"^(tuning|kernels) +(\d+) ", output, re.MULTILINE)}


def rows(output):
    return re.findall(r"^ *([0-9.]+) +([0-9.]+) +(\d+)%  (\S+)$", output, re.MULTILINE)


def test_tune_keeps_times_that_mode_b_finds(cache, product, tmp_path):
    output = cache("tune", "graph.json", "--budget", "20").stdout
    measured = rows(output)
    assert len(measured) >= 2
    times = [float(row[0]) for row in measured]
    assert times == sorted(times)
    assert str(tmp_path / "cache") in output
    assert min(int(row[2]) for row in measured) <= 100
    assert entries(cache)["tuning"] >= 1
    assert entries(cache)["kernels"] == 0
    # explain shows them to another process; without the store there are none.
    assert "measured" in cache("explain", "graph.json").stdout
    best = measured[0][3]
    again = cache("tune", "graph.json", "--budget", "0", "--modes", "B").stdout
    first = re.search(r"The first choice was (\S+);", again)
    assert first is None or first[1] in [row[3] for row in measured[:3]], (best, again)


def test_tune_takes_the_modes_it_is_told(cache, product):
    fallback = cache("tune", "graph.json", "--budget", "0", "--modes", "FALLBACK").stdout
    both = cache("tune", "graph.json", "--budget", "0", "--modes", "a,fallback").stdout
    assert {row[3] for row in rows(fallback)} < {row[3] for row in rows(both)}
    cache("tune", "graph.json", "--modes", "C", expect=2)
    cache("tune", "graph.json", "--budget", "-1", expect=2)
    cache("tune", "graph.json", "--budget", "soon", expect=2)


@pytest.mark.parametrize("variables", [{"WARPLOOM_CACHE": "off"}, {"WARPLOOM_CACHE": "readonly"},
                                       {"WARPLOOM_CACHE_DIR": "/proc/nothing"}])
def test_tune_says_when_nothing_is_kept(cache, product, variables):
    result = cache("tune", "graph.json", "--budget", "0", expect=2, **variables)
    assert len(rows(result.stdout)) >= 2
    assert "the times are not kept" in result.stderr


def test_cache_lists_trims_and_clears(cache, product):
    assert entries(cache) == {"tuning": 0, "kernels": 0}
    assert "nothing is kept" in cache("cache", "clear").stdout
    cache("tune", "graph.json", "--budget", "0")
    product.description["tensors"]["A"].update(dim=[1, 32, 48], stride=[1536, 48, 1])
    product.write()
    cache("tune", "graph.json", "--budget", "0")
    before = entries(cache)["tuning"]
    assert before >= 2
    assert entries(cache, "--kernels") == {"kernels": 0}
    assert "MATMUL" in cache("cache", "list", "--entries").stdout
    cache("cache", "trim", expect=2)
    cache("cache", "trim", "--limit", "-5", expect=2)
    cache("cache", "trim", "--limit", str(10**12))
    assert entries(cache)["tuning"] == before
    cache("cache", "trim", "--limit", "4096")
    assert entries(cache)["tuning"] == 1
    cache("cache", "clear", "--kernels")
    assert entries(cache)["tuning"] == 1
    assert "removed 1 entries" in cache("cache", "clear").stdout
    assert entries(cache) == {"tuning": 0, "kernels": 0}


def test_cache_says_why_a_folder_is_not_used(cache, tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir()
    os.chmod(folder, 0o777)
    assert "others may write" in cache("cache", "list").stdout
    cache("cache", "clear", expect=2)
    os.chmod(folder, 0o700)
    assert "read only" in cache("cache", "list", WARPLOOM_CACHE="readonly").stdout
    cache("cache", "clear", expect=2, WARPLOOM_CACHE="readonly")
    in_file = tmp_path / "file" / "cache"
    in_file.parent.write_text("")
    assert "not a folder" in cache("cache", "list", WARPLOOM_CACHE_DIR=str(in_file)).stdout
    assert "ignored WARPLOOM_CACHE=maybe" in cache("cache", "list", WARPLOOM_CACHE="maybe").stdout
    assert "WARPLOOM_CACHE is off" in cache("cache", "list", WARPLOOM_CACHE="off").stdout


def test_entries_of_a_forged_key_do_not_steer_the_terminal(cache, product, tmp_path):
    cache("tune", "graph.json", "--budget", "0")
    for path in (tmp_path / "cache" / "tuning").rglob("*"):
        if path.is_file():
            path.write_bytes(b"WRPLSTOR\x1b[31m" + bytes(40))
    output = cache("cache", "list", "--entries").stdout
    assert "\x1b" not in output
    assert "version" in output or "damaged" in output


def test_help_is_enough(cache):
    assert "warploom cache" in cache("tune", "--help").stdout
    helped = cache("cache", "--help").stdout
    for word in ("list", "trim", "clear", "WARPLOOM_CACHE_DIR", "WARPLOOM_CACHE_LIMIT"):
        assert word in helped
    cache("cache", expect=2)
