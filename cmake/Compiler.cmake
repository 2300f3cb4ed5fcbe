# How everything of ours is compiled: one interface target, linked by every target of the project.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Only the kernels gain from -O3, and they ask for it themselves (CpuKernels.cmake).
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

add_library(warploom_compiler INTERFACE)
# -ffast-math is out: NaN, infinity and the order of operations are part of the contract.
target_compile_options(warploom_compiler INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-fno-math-errno;-ffp-contract=off>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${WARPLOOM_WERROR}>>:-Werror>)

if(WARPLOOM_SANITIZE)
  set(sanitize -fsanitize=${WARPLOOM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(warploom_compiler INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${sanitize}>)
  target_link_options(warploom_compiler INTERFACE ${sanitize})
endif()
