#!/usr/bin/env python3
"""Without root, setup.sh names what is missing in one apt-get line, stops, and changes nothing.

It runs on a copy of scripts/, as an unprivileged user, before an empty package database.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts"
NOBODY = 65534


def main():
    if shutil.which("dpkg-query") is None:
        print("not a Debian system")
        return 77
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        place.chmod(0o777)
        shutil.copytree(SCRIPTS, place / "scripts")
        database = place / "dpkg"
        database.mkdir()
        (database / "status").touch()
        before = sorted(place.rglob("*"))
        result = subprocess.run(
            ["bash", place / "scripts" / "setup.sh"], capture_output=True, text=True, cwd=place,
            env={**os.environ, "DPKG_ADMINDIR": str(database)},
            **({"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}))
        after = sorted(place.rglob("*"))

    print(result.stderr, end="")
    lines = re.findall(r"^ *sudo apt-get install -y (.*)$", result.stderr, re.MULTILINE)
    checks = {
        "exit status 1": result.returncode == 1,
        "one apt-get line": len(lines) == 1,
        "which names the packages": len(lines) == 1 and {"cmake", "libfmt-dev"} <= set(
            lines[0].split()),
        "nothing else changed": before == after,
    }
    for text, holds in checks.items():
        print(f"{'ok' if holds else 'NOT SO'}: {text}")
    return 0 if all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
