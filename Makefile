# The entry points of the project. Each says what it does and is safe to repeat.
# JOBS=n sets how many compilers and tests run at once.

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
BUILD := build
export JOBS
SAY = @printf '\n== %s\n'

.PHONY: help demo test test-all build bench docs format setup clean sanitizer-smoke

help:
	@printf '%s\n' \
	  'make demo      install what is missing, build, run the guided tour, write out/tour.html' \
	  'make test      install what is missing, build, run all tests (a smoke subset under sanitizers)' \
	  'make test-all  the same, with the long tests and everything under every sanitizer' \
	  'make build     install what is missing and build everything into build/' \
	  'make bench     run the benchmarks of bench/' \
	  'make docs      write docs/ops anew from headers and examples' \
	  'make format    format the C++ sources' \
	  'make clean     remove what the other targets made'

setup:
	@scripts/setup.sh

$(BUILD)/build.ninja: | setup
	$(SAY) 'Configuring $(BUILD)/ (preset release)'
	@cmake --preset release >$(BUILD).log 2>&1 || { cat $(BUILD).log; rm -f $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log

build: setup $(BUILD)/build.ninja
	$(SAY) 'Building everything into $(BUILD)/'
	@cmake --build $(BUILD) -j $(JOBS)

demo: setup $(BUILD)/build.ninja
	$(SAY) 'Building the library, the tour and the command-line tool (minutes, the first time)'
	@cmake --build $(BUILD) -j $(JOBS) --target example_tour warploom_cli
	$(SAY) 'The guided tour'
	@mkdir -p out
	@WARPLOOM_CACHE=off $(BUILD)/examples/example_tour --report out/tour.html --json out/tour.json
	@printf '\nThe report: %s\n' "$(CURDIR)/out/tour.html"

docs: setup $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS) --target example_ops describe_operations
	@scripts/write_op_pages.py --examples $(BUILD)/examples/example_ops \
	  --describe $(BUILD)/tests/describe_operations

sanitizer-smoke: setup
	@scripts/sanitize.sh build asan-ubsan smoke
	@scripts/sanitize.sh build asan-ubsan fuzzers
	@scripts/sanitize.sh build tsan smoke

# Last, so that what ctest counted is the last thing to be read.
test: build sanitizer-smoke
	$(SAY) 'Running the tests'
	@ctest --test-dir $(BUILD) -LE long -j $(JOBS) --output-on-failure --no-label-summary

test-all: build
	@for preset in asan ubsan tsan; do \
	  scripts/sanitize.sh build $$preset all && scripts/sanitize.sh run $$preset all || exit 1; done
	$(SAY) 'Running the tests, the long ones too'
	@ctest --test-dir $(BUILD) -j $(JOBS) --output-on-failure --no-label-summary

bench: build
	@mkdir -p out
	@for program in $(BUILD)/bench/bench_*; do \
	  [ -x $$program ] && [ -f $$program ] || continue; \
	  printf '\n== %s\n' $$program; WARPLOOM_CACHE=off $$program || exit 1; done

format: setup
	@git ls-files -co --exclude-standard '*.h' '*.cpp' | xargs -r clang-format -i
	$(SAY) 'Formatted'

clean:
	rm -rf build build-* out
