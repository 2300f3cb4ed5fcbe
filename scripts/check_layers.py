#!/usr/bin/env python3
"""Checks the rules that every source file keeps, and prints one line for each breach.

The layers and what each may see are read from the warploom_layer() lines of CMakeLists.txt.
"""

import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE_SUFFIXES = {".h", ".cpp", ".def", ".py"}
SOURCE_FOLDERS = ("include", "src", "tools", "tests", "bench", "examples", "scripts")
MOST_LINES, MOST_KERNEL_LINES = 800, 1000
MOST_MEDIAN, MOST_NINTH_DECILE = 150, 400
MOST_README_LINES = 15
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}
NVIDIA_LAYERS = {"engines/cuda", "engines/cudnn"}
NVIDIA_HEADER = re.compile(r"^(cuda|cudnn|nvrtc|nccl)\w*\.h$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def read_layers():
    """Layer -> set of the layers that it may include, itself among them."""
    text = (ROOT / "CMakeLists.txt").read_text()
    visible = {}
    for line in re.findall(r"^\s*warploom_layer\(([^)]*)\)", text, re.MULTILINE):
        name, *rest = line.split()
        words = " ".join(rest).split(" LIBRARIES ")[0].split()
        visible[name] = {name}.union(*(visible[other] for other in words if other != "DEPENDS"))
    return visible


def layer_of(path, layers):
    """The layer whose folder holds this path under src, or None."""
    fitting = [layer for layer in layers if str(path).startswith(layer + "/")]
    return max(fitting, key=len, default=None)


def includes(path):
    text = path.read_text()
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match[1] == "<", match[2]


def check_source_includes(path, layers, report):
    """A file of src sees its own layer, those left of it, and public headers."""
    own = layer_of(path.relative_to(ROOT / "src"), layers)
    if own is None:
        report(path, 0, "lies in no layer of CMakeLists.txt")
        return
    for line, angle, name in includes(path):
        if angle:
            if NVIDIA_HEADER.match(name) and own not in NVIDIA_LAYERS:
                report(path, line, f"<{name}>: only {sorted(NVIDIA_LAYERS)} see NVIDIA's headers")
        elif name.startswith("warploom/"):
            report(path, line, f'"{name}": public headers are included as <{name}>')
        elif not (ROOT / "src" / name).is_file():
            report(path, line, f'"{name}": not a file under src; internal includes are rooted there')
        elif layer_of(name, layers) not in layers[own]:
            report(path, line, f'layer {own} must not see "{name}"; it sees {sorted(layers[own])}')


def check_public_includes(path, report):
    """A public header sees the standard library and other public headers."""
    compatibility = "compat" in path.relative_to(ROOT / "include" / "warploom").parts
    for line, angle, name in includes(path):
        if not angle:
            report(path, line, f'"{name}": public headers include <warploom/...>')
        elif name.startswith("warploom/"):
            if not (ROOT / "include" / name).is_file():
                report(path, line, f"<{name}>: no such public header")
        elif not re.fullmatch(r"[a-z_0-9]+", name) and not compatibility:
            report(path, line, f"<{name}>: only standard headers are visible in include/warploom")


def check_user_includes(path, report):
    """Examples are written against the public headers alone."""
    for line, angle, name in includes(path):
        if not angle and (ROOT / "src" / name).is_file() and not (path.parent / name).is_file():
            report(path, line, f'"{name}": an example includes public headers only')


def is_kernel(path):
    return "kernels" in path.parts


def check_lengths(files, report):
    lengths = {path: len(path.read_text().splitlines()) for path in files}
    for path, length in lengths.items():
        limit = MOST_KERNEL_LINES if is_kernel(path) else MOST_LINES
        if length > limit:
            report(path, 0, f"{length} lines; the limit is {limit}")
    ordered = sorted(lengths.values())
    median, ninth = statistics.median(ordered), ordered[len(ordered) * 9 // 10]
    if median > MOST_MEDIAN:
        report(ROOT, 0, f"the median file has {median:g} lines; the limit is {MOST_MEDIAN}")
    if ninth > MOST_NINTH_DECILE:
        report(ROOT, 0, f"one file in ten has over {ninth} lines; the limit is {MOST_NINTH_DECILE}")
    return f"{len(files)} files, median {median:g} lines, nine in ten up to {ninth}"


def check_readmes(report):
    for folder in [ROOT / "src", *(p for p in (ROOT / "src").rglob("*") if p.is_dir())]:
        if not any(folder.iterdir()):
            continue
        readme = folder / "README.md"
        if not readme.is_file():
            report(folder, 0, "has no README.md (purpose, main type, first file to read)")
        elif len(readme.read_text().splitlines()) > MOST_README_LINES:
            report(readme, 0, f"over {MOST_README_LINES} lines")


def main():
    breaches = []

    def report(path, line, text):
        place = path.relative_to(ROOT).as_posix() + (f":{line}" if line else "")
        breaches.append(f"{place}: {text}")

    layers = read_layers()
    files = [path for folder in SOURCE_FOLDERS for path in sorted((ROOT / folder).rglob("*"))
             if path.suffix in SOURCE_SUFFIXES and "__pycache__" not in path.parts]
    for path in files:
        folder = path.relative_to(ROOT).parts[0]
        code = path.suffix in {".h", ".cpp"}
        if code and folder == "src":
            check_source_includes(path, layers, report)
        elif code and folder == "include":
            check_public_includes(path, report)
        elif code and folder == "examples":
            check_user_includes(path, report)
        if path.stem in FORBIDDEN_NAMES or path.parent.name in FORBIDDEN_NAMES:
            report(path, 0, "the name says nothing of what it holds")
        if path.suffix == ".h" and "#pragma once" not in path.read_text():
            report(path, 0, "a header without #pragma once")
    summary = check_lengths(files, report)
    check_readmes(report)

    for breach in breaches:
        print(breach)
    print(f"{len(layers)} layers, {summary}: {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
