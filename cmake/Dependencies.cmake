# What the project is built with; docs/dependencies.md says what each is for.

find_package(Threads REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
if(WARPLOOM_BUILD_TOOLS OR WARPLOOM_BUILD_EXAMPLES OR WARPLOOM_BUILD_BENCH)
  find_package(CLI11 REQUIRED)
endif()
if(WARPLOOM_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(WARPLOOM_BUILD_BENCH)
  find_package(dnnl CONFIG QUIET)  # the peer of the CPU benchmarks
endif()
