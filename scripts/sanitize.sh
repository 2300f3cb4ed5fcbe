#!/usr/bin/env bash
# sanitize.sh build|run <preset> <test folder, fuzzers (asan-ubsan has them), or all>
# Builds or runs tests of the tree of one sanitizer preset (asan, ubsan, asan-ubsan, tsan).
set -euo pipefail
cd "$(dirname "$0")/.."
action=$1 preset=$2 tests=$3
tree=build-$preset
mkdir -p "$tree"
jobs=${JOBS:-$(nproc)}

# As in tests/CMakeLists.txt, for what is run without ctest.
export WARPLOOM_CACHE=off
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=second_deadlock_stack=1

case $tests in
  all | fuzzers) target=$tests ;;
  *) target=test_$tests ;;
esac

build() {
  [[ -f $tree/build.ninja ]] || cmake --preset "$preset" >/dev/null
  cmake --build "$tree" -j "$jobs" --target "$target"
}

case $action in
  build)
    printf '\n== Building %s under %s\n' "$tests" "$preset"
    build
    ;;
  run)
    build >"$tree/build.log" 2>&1 || { cat "$tree/build.log"; exit 1; }
    if [[ $tests == all ]]; then
      ctest --test-dir "$tree" -L "unit|long" -j "$jobs" --output-on-failure --no-label-summary
    elif [[ $tests == fuzzers ]]; then
      scripts/fuzz.py run --executions 3000 --jobs 1
    else
      "$tree/tests/test_$tests" --gtest_brief=1
    fi
    ;;
esac
