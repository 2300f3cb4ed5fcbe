"""The guided tour, as `make demo` runs it, on small problems."""

import html.parser
import json
import re
import subprocess


def _run(tour, folder, *arguments):
    return subprocess.run([tour, *arguments], cwd=folder, capture_output=True, text=True,
                          timeout=300)


class _Page(html.parser.HTMLParser):
    """Notes what a page refers to and that what it opens is closed."""

    VOID = {"meta", "wbr", "img", "br", "hr", "link", "input"}

    def __init__(self, text):
        super().__init__()
        self.open, self.references, self.counts = [], [], {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.references += [value for name, value in attributes if name in ("src", "href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.counts[tag] = self.counts.get(tag, 0) + 1

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()


def test_the_tour_agrees_with_itself(tour, tmp_path):
    result = _run(tour, tmp_path, "--quick", "--json", "tour.json", "--report", "tour.html")
    assert result.returncode == 0, result.stdout + result.stderr
    found = json.loads((tmp_path / "tour.json").read_text())
    assert found["passed"] and found["is_quick"]
    assert [section["number"] for section in found["sections"]] == list(range(8))
    machine, convolution, candidates, matmul, attention, keeping, shapes, mistakes = found["sections"]
    assert {"device", "threads", "warploom"} <= machine["facts"].keys()
    for section in (convolution, matmul, attention, shapes):
        for check in section["checks"]:
            assert check["passed"] and check["compared"] >= 1 and check["error"] < 1e-5
        for race in section.get("races", []):
            assert race["fused_seconds"] > 0 and race["unfused_seconds"] > 0
    assert len(shapes["checks"]) == 10 and "bound in" in shapes["conclusion"]
    assert len(convolution["races"]) == 2
    assert len(candidates["candidates"]) >= 2
    assert sum(candidate["is_first_choice"] for candidate in candidates["candidates"]) == 1
    times = [candidate["seconds"] for candidate in candidates["candidates"]]
    assert times == sorted(times)
    assert [check["error"] for check in keeping["checks"]][0] == 0
    assert keeping["mistakes"][0]["code"] == "UNSUPPORTED_GRAPH_FORMAT"
    assert "loaded in" in keeping["conclusion"]
    assert len(mistakes["mistakes"]) == 3
    for mistake in mistakes["mistakes"]:
        assert mistake["was_caught"] and mistake["code"] in result.stdout
    assert "Summary" in result.stdout and "everything agrees" in result.stdout

    text = (tmp_path / "tour.html").read_text()
    page = _Page(text)
    assert not page.open
    assert page.counts["svg"] >= 7 and page.counts["img"] >= 2
    assert all(reference.startswith("data:") for reference in page.references)
    assert not re.search(r"@import|url\((?!#)|<script|<link", text)
    assert "prefers-color-scheme: dark" in text


def test_wrong_use(tour, tmp_path):
    assert _run(tour, tmp_path, "--device", "abacus").returncode == 2
    assert _run(tour, tmp_path, "--fast").returncode == 2
    refused = _run(tour, tmp_path, "--device", "cuda", "--quick")
    assert refused.returncode in (0, 2)
    if refused.returncode == 2:
        assert refused.stderr.startswith("tour: error: ")
    assert _run(tour, tmp_path, "--help").returncode == 0
