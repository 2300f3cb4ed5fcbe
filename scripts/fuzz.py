#!/usr/bin/env python3
"""Runs the libFuzzer harnesses of tests/libfuzzer.

  fuzz.py run [--executions N] [--jobs J] [--seed S] [--output record.json] [harness ...]
      Every harness N times in all, in J processes, each on a copy of the corpus of its own. Fails
      when one crashes, hangs or takes more memory than it may; what did it stays in --crashes. The
      record says how many executions there were, how long they took and what they needed.
  fuzz.py pack FOLDER
      Copies this script, the stripped programs and the corpora to FOLDER, from where `run` works on
      another machine.

In the source tree the programs are those of build-asan-ubsan (scripts/sanitize.sh build asan-ubsan
fuzzers).
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
IS_PACKED = (HERE / "origin.json").exists()
ROOT = HERE if IS_PACKED else HERE.parent
PROGRAMS = HERE if IS_PACKED else ROOT / "build-asan-ubsan" / "tests" / "libfuzzer"
CORPUS = HERE / "corpus" if IS_PACKED else ROOT / "tests" / "libfuzzer" / "corpus"

MOST_BYTES = 4096
LIMITS = {"rss_limit_mb": 1024, "malloc_limit_mb": 64, "timeout": 10}
ENVIRONMENT = {
    "WARPLOOM_CACHE": "off",
    "ASAN_OPTIONS": "detect_leaks=1:quarantine_size_mb=16:malloc_context_size=4",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}


def harnesses():
    return sorted(path.name.removeprefix("fuzz_") for path in PROGRAMS.glob("fuzz_*")
                  if path.is_file() and not path.suffix)


def origin():
    """Where the programs come from: the commit and the compiler."""
    if IS_PACKED:
        return json.loads((HERE / "origin.json").read_text())
    def output(*command):
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True,
                              text=True).stdout.strip()
    changed = output("git", "status", "--porcelain", "-uno")
    return {"commit": output("git", "rev-parse", "HEAD") + ("-modified" if changed else ""),
            "compiler": output("clang++", "--version").splitlines()[0]}


def start(name, job, executions, seed, folder):
    corpus = folder / "corpus"
    shutil.copytree(CORPUS / name, corpus)
    # Without "entropic", which takes half of the time where there is much to cover.
    command = [str(PROGRAMS / f"fuzz_{name}"), str(corpus), f"-runs={executions}",
               f"-seed={seed + job}", f"-max_len={MOST_BYTES}", f"-artifact_prefix={folder}/found_",
               "-print_final_stats=1", "-reload=0", "-entropic=0", *(f"-{k}={v}" for k, v in LIMITS.items())]
    dictionary = CORPUS / f"{name}.dict"
    if dictionary.exists():
        command.append(f"-dict={dictionary}")
    with open(folder / "log", "wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                env={**ENVIRONMENT, **os.environ})


def statistic(text, name):
    found = re.findall(rf"stat::{name}:\s+(\d+)", text)
    return int(found[-1]) if found else 0


def keep(name, job, folder, crashes):
    """Moves what a failed process leaves to where it is not lost."""
    crashes.mkdir(parents=True, exist_ok=True)
    for path in [folder / "log", *folder.glob("found_*")]:
        shutil.copy(path, crashes / f"{name}_{job}_{path.name}")


def run_harness(name, options):
    with tempfile.TemporaryDirectory(prefix="fuzz_") as temporary:
        folders = [pathlib.Path(temporary) / str(job) for job in range(options.jobs)]
        for folder in folders:
            folder.mkdir()
        share = -(-options.executions // options.jobs)
        begin = time.monotonic()
        processes = [start(name, job, share, options.seed, folder)
                     for job, folder in enumerate(folders)]
        codes = [process.wait() for process in processes]
        seconds = time.monotonic() - begin
        logs = [(folder / "log").read_text(errors="replace") for folder in folders]
        failed = [job for job, code in enumerate(codes) if code != 0]
        for job in failed:
            keep(name, job, folders[job], options.crashes)
            print(logs[job][-4000:])
        return {
            "harness": name,
            "executions": sum(statistic(log, "number_of_executed_units") for log in logs),
            "seconds": round(seconds, 1),
            "failures": len(failed),
            "peak_rss_mb": max(statistic(log, "peak_rss_mb") for log in logs),
            "slowest_unit_seconds": max(statistic(log, "slowest_unit_time_sec") for log in logs),
            "corpus_files": len(list((CORPUS / name).iterdir())),
            "corpus_files_found": max(len(list((folder / "corpus").iterdir()))
                                      for folder in folders),
        }


def run(options):
    known = harnesses()
    names = options.harness or known
    if not known or not set(names) <= set(known):
        sys.exit(f"fuzz.py: {PROGRAMS} has {', '.join(known) or 'no harness'}")
    results = []
    for name in names:
        result = run_harness(name, options)
        results.append(result)
        print(f"{name}: {result['executions']} executions in {result['seconds']} s, "
              f"{result['failures']} failures, {result['peak_rss_mb']} MB", flush=True)
    if options.output:
        record = {"program": "scripts/fuzz.py", **origin(),
                  "date": datetime.datetime.now(datetime.timezone.utc).isoformat("T", "seconds"),
                  "machine": {"system": platform.platform(), "cores": os.cpu_count()},
                  "jobs": options.jobs, "seed": options.seed,
                  "limits": {**LIMITS, "max_len": MOST_BYTES}, "results": results}
        options.output.write_text(json.dumps(record, indent=2) + "\n")
    if any(result["failures"] or result["executions"] < options.executions for result in results):
        sys.exit(f"fuzz.py: see {options.crashes}")


def pack(options):
    options.folder.mkdir(parents=True)
    for name in harnesses():
        program = options.folder / f"fuzz_{name}"
        subprocess.run(["strip", "-o", str(program), str(PROGRAMS / program.name)], check=True)
    shutil.copytree(CORPUS, options.folder / "corpus")
    shutil.copy(__file__, options.folder)
    (options.folder / "origin.json").write_text(json.dumps(origin(), indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(required=True)
    runs = actions.add_parser("run")
    runs.add_argument("harness", nargs="*")
    runs.add_argument("--executions", type=int, default=100000)
    runs.add_argument("--jobs", type=int, default=os.cpu_count())
    runs.add_argument("--seed", type=int, default=1)
    runs.add_argument("--output", type=pathlib.Path)
    runs.add_argument("--crashes", type=pathlib.Path, default=pathlib.Path("fuzz-crashes"))
    runs.set_defaults(action=run)
    packs = actions.add_parser("pack")
    packs.add_argument("folder", type=pathlib.Path)
    packs.set_defaults(action=pack)
    options = parser.parse_args()
    options.action(options)


if __name__ == "__main__":
    main()
