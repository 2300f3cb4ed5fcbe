#!/usr/bin/env python3
"""Every trap of moving has a test that carries its number, or concerns Python alone."""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
TRAPS = set(range(1, 59))


def numbers(text):
    return {int(number) for number in re.findall(r"\bT(\d+)", text)}


def main():
    page = (HERE.parent.parent / "docs/divergences.md").read_text()
    of_python = numbers(page[page.index("## Traps of Python alone"):]) - {37}
    tested = set()
    for path in HERE.glob("traps_*.cpp"):
        for name in re.findall(r"TEST\(Traps, (\w+)\)", path.read_text()):
            tested |= {int(number) for number in re.findall(r"(?:^|_)T(\d+)(?=_)", name)}
    told = {int(number) for number in re.findall(r"^\| T(\d+) ", page, re.MULTILINE)}
    complaints = {
        "no test and not of Python alone": TRAPS - tested - of_python,
        "of Python alone, yet tested": tested & of_python,
        "in docs/divergences.md without a test": told - tested,
        "no such trap": (tested | of_python | told) - TRAPS,
    }
    for complaint, traps in complaints.items():
        for trap in sorted(traps):
            print(f"T{trap}: {complaint}")
    print(f"{len(tested)} traps tested, {len(of_python)} of Python alone")
    return 1 if any(complaints.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
