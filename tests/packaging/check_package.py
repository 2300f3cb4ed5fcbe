#!/usr/bin/env python3
"""Installs a build into an empty prefix, then builds and runs users' programs against it.

A version print, the C++ of README.md word for word, and programs that are written for the cuDNN
Frontend and know nothing of Warploom.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

# What an installed library may need: the run-time libraries of C and C++.
RUN_TIME_LIBRARY = re.compile(r"(libc|libm|libgcc_s|libstdc\+\+|libpthread|libdl|ld-linux.*)\.so")
FRONTEND_PROGRAMS = ("serialization", "attention")
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def run(*command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"failed with {result.returncode}: {' '.join(map(str, command))}\n"
                 f"{result.stdout}{result.stderr}")
    return result.stdout


def readme_program():
    block = re.search(r"^```cpp\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
    if block is None:
        sys.exit("README.md has no ```cpp block")
    return block[1]


def expect(condition, text):
    if not condition:
        sys.exit(text)
    print(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="a build tree in which everything is built")
    parser.add_argument("--compiler", required=True)
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        prefix, tree, readme = place / "prefix", place / "tree", place / "readme.cpp"
        run("cmake", "--install", arguments.build, "--prefix", prefix)
        readme.write_text(readme_program())
        run("cmake", "-G", "Ninja", "-S", HERE / "client", "-B", tree,
            f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={arguments.compiler}",
            f"-DCLIENT_SOURCES={HERE / 'client' / 'version.cpp'};{readme}",
            "-DFRONTEND_SOURCES=" + ";".join(
                str(ROOT / "tests/compat/programs" / f"{name}.cpp") for name in FRONTEND_PROGRAMS))
        run("cmake", "--build", tree)

        version = run(tree / "version").strip()
        header = (prefix / "include/warploom/version.h").read_text()
        stated = ".".join(re.findall(r"VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))
        expect(version == stated, f"a client of the installed library reads version {version}")
        library, = prefix.rglob("libwarploom.so")
        needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", library))
        expect(needed and all(map(RUN_TIME_LIBRARY.match, needed)),
               f"the installed library needs {', '.join(needed)}")
        for name in FRONTEND_PROGRAMS:
            run(tree / name)
        print(f"programs for the cuDNN Frontend run: {', '.join(FRONTEND_PROGRAMS)}")
        print(f"the program of README.md prints: {run(tree / 'readme').strip()}")


if __name__ == "__main__":
    main()
