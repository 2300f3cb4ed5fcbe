#!/usr/bin/env python3
"""Measures what <warploom/warploom.h> adds to a compile, and that strict compilers accept it.

The cost is CPU time above that of the standard headers it includes, the median of interleaved runs.
Other load on the machine can only add to it, so a result over the limit is measured again.
"""

import argparse
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

INCLUDE_FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "include"
HEADER = "warploom/warploom.h"
MOST_SECONDS = 0.4
RUNS, ATTEMPTS = 7, 4
STRICT = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fno-exceptions"]


def headers_of(name, seen, standard):
    """Collects the public headers that `name` reaches and the standard ones that they include."""
    seen.add(name)
    text = (INCLUDE_FOLDER / name).read_text()
    for included in re.findall(r"^\s*#\s*include\s*<([^>]+)>", text, re.MULTILINE):
        if not included.startswith("warploom/"):
            standard.add(included)
        elif included not in seen:
            headers_of(included, seen, standard)


def compile_seconds(compiler, source):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([compiler, "-std=c++20", "-fsyntax-only", f"-I{INCLUDE_FOLDER}", source],
                   check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def check_cost(compiler, folder):
    seen, standard = set(), set()
    headers_of(HEADER, seen, standard)
    whole, base = folder / "whole.cpp", folder / "base.cpp"
    whole.write_text(f"#include <{HEADER}>\n")
    base.write_text("".join(f"#include <{name}>\n" for name in sorted(standard)))
    for _ in range(ATTEMPTS):
        extra = statistics.median(compile_seconds(compiler, whole) - compile_seconds(compiler, base)
                                  for _ in range(RUNS))
        print(f"<{HEADER}>: {len(seen)} headers cost {extra:.3f} s above {len(standard)} standard "
              f"ones (median of {RUNS}; at most {MOST_SECONDS} s)")
        if extra <= MOST_SECONDS:
            return True
    return False


def check_strict(folder):
    """Every public header stands alone; all of them together please a second compiler, if any."""
    good = True
    every = [header for header in sorted(INCLUDE_FOLDER.glob("warploom/**/*.h"))
             if "compat" not in header.relative_to(INCLUDE_FOLDER).parts]
    for compiler, headers in (("g++", every), ("clang++", [INCLUDE_FOLDER / HEADER])):
        if not shutil.which(compiler):
            continue
        for header in headers:
            source = folder / "alone.cpp"
            source.write_text(f"#include <{header.relative_to(INCLUDE_FOLDER)}>\n")
            result = subprocess.run([compiler, *STRICT, "-fsyntax-only", f"-I{INCLUDE_FOLDER}",
                                     source], capture_output=True, text=True)
            if result.returncode != 0:
                print(f"{compiler} refuses <{header.relative_to(INCLUDE_FOLDER)}> alone:\n"
                      f"{result.stderr}")
                good = False
        print(f"{compiler} {' '.join(STRICT)}: {len(headers)} checked")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        good = check_strict(folder)
        return 0 if check_cost(arguments.compiler, folder) and good else 1


if __name__ == "__main__":
    sys.exit(main())
