#!/usr/bin/env python3
"""Checks that the kernels compiled for one instruction set define no weak symbols.

An inline function or template that is not inlined becomes a weak symbol, and the linker keeps one
copy for the whole library: if that is the AVX-512 one, machines without AVX-512 crash in code that
has nothing to do with kernels. Usage: check_isa_objects.py <file listing objects, one a line>
"""

import pathlib
import subprocess
import sys


def weak_symbols(path):
    listing = subprocess.run(["nm", "-C", "--defined-only", path], check=True, capture_output=True,
                             text=True).stdout
    for line in listing.splitlines():
        _, kind, name = line.split(" ", 2)
        if kind in "WVu":
            yield name


def main():
    objects = [line for line in pathlib.Path(sys.argv[1]).read_text().splitlines() if line]
    found = 0
    for path in objects:
        for name in weak_symbols(path):
            print(f"{path}: weak symbol {name}")
            found += 1
    print(f"{len(objects)} objects of the kernels: {found} weak symbols")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
