#!/usr/bin/env python3
"""Checks formatting: clang-format for C++, whitespace for every text file.

Exits with 77 (skipped) where there is no clang-format of the version that the sources follow, or
no git to tell which files are ours.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLANG_FORMAT_VERSION = 14
TEXT_SUFFIXES = {".h", ".cpp", ".def", ".py", ".sh", ".md", ".cmake", ".txt", ".json", ".yaml"}


def tracked_files():
    listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                             capture_output=True, text=True).stdout
    return [ROOT / name for name in listing.splitlines() if (ROOT / name).is_file()]


def whitespace_breaches(path):
    text = path.read_text()
    for number, line in enumerate(text.split("\n"), 1):
        if line != line.rstrip():
            yield f"{path.relative_to(ROOT)}:{number}: trailing whitespace"
        if "\t" in line and path.suffix != ".def":
            yield f"{path.relative_to(ROOT)}:{number}: a tab"
    if text and not text.endswith("\n"):
        yield f"{path.relative_to(ROOT)}: no newline at the end"


def clang_format():
    for name in (f"clang-format-{CLANG_FORMAT_VERSION}", "clang-format"):
        if shutil.which(name):
            version = subprocess.run([name, "--version"], capture_output=True, text=True).stdout
            if re.search(rf"version {CLANG_FORMAT_VERSION}\.", version):
                return name
    return None


def format_breaches(program, files):
    def run(chunk):
        result = subprocess.run([program, "--dry-run", *map(str, chunk)], capture_output=True,
                                text=True)
        return re.findall(r"^(\S+?:\d+):\d+: (?:warning|error): code should be clang-formatted",
                          result.stderr, re.MULTILINE)

    chunks = [files[start:start + 16] for start in range(0, len(files), 16)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for places in pool.map(run, chunks):
            for place in places:
                yield f"{pathlib.Path(place).relative_to(ROOT)}: not formatted"


def main():
    if not (ROOT / ".git").exists():
        print("not a git checkout: formatting not checked")
        return 77
    files = tracked_files()
    breaches = [breach for path in files if path.suffix in TEXT_SUFFIXES
                for breach in whitespace_breaches(path)]
    program = clang_format()
    if program:
        breaches += format_breaches(program, [p for p in files if p.suffix in {".h", ".cpp"}])
    for breach in breaches:
        print(breach)
    print(f"{len(files)} files: {len(breaches)} breaches" +
          ("; `make format` mends the C++" if breaches else ""))
    if breaches:
        return 1
    if not program:
        print(f"clang-format {CLANG_FORMAT_VERSION} is not installed: C++ formatting not checked")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
