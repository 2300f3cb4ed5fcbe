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
  # The peer of the CPU benchmarks, where it is installed. Debian's package config asks for OpenCL's
  # headers, which nothing here needs.
  find_path(DNNL_INCLUDE_DIR dnnl.hpp)
  find_library(DNNL_LIBRARY dnnl)
  if(DNNL_INCLUDE_DIR AND DNNL_LIBRARY)
    add_library(DNNL::dnnl UNKNOWN IMPORTED)
    set_target_properties(DNNL::dnnl PROPERTIES
      IMPORTED_LOCATION "${DNNL_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${DNNL_INCLUDE_DIR}")
  endif()
endif()
