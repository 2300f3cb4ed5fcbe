# The kernels of the CPU engine, compiled for several instruction sets into one library.
#
#   src/engines/cpu/kernels/*.isa.cpp     compiled once per level, with -DWARPLOOM_ISA=<level>; its
#                                         code belongs in a namespace named after WARPLOOM_ISA
#   src/engines/cpu/kernels/<level>/*.cpp compiled for that level alone
#   (what AVX512-BF16 adds to AVX-512 is assembly alone: it has no level of its own here)
#   src/engines/cpu/kernels/*.gen.py      run as `python3 x.gen.py x.S`; the assembly is x86-64 only
#   src/engines/cpu/kernels/*.cpp         ordinary sources of the layer engines/cpu

set(x86_avx2 -mavx2 -mfma -mf16c)
set(x86_avx512 ${x86_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl)

function(warploom_cpu_kernels)
  # With the checks of a sanitizer in it, -O3 takes minutes.
  if(NOT WARPLOOM_SANITIZE)
    set(optimization -O3)
  endif()
  set(folder "${PROJECT_SOURCE_DIR}/src/engines/cpu/kernels")
  set(levels generic)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    list(APPEND levels avx2 avx512)
    set(x86 TRUE)
  endif()

  file(GLOB shared_sources CONFIGURE_DEPENDS "${folder}/*.isa.cpp")
  foreach(level IN LISTS levels)
    file(GLOB level_sources CONFIGURE_DEPENDS "${folder}/${level}/*.cpp")
    if(shared_sources OR level_sources)
      set(target warploom_kernels_${level})
      add_library(${target} OBJECT ${shared_sources} ${level_sources})
      target_link_libraries(${target} PUBLIC warploom_headers)
      target_compile_definitions(${target} PRIVATE WARPLOOM_ISA=${level})
      target_compile_options(${target} PRIVATE
        ${optimization} ${x86_${level}}
        # GCC 12 warns of its own intrinsics (_mm256_undefined_pd).
        $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized;-Wno-maybe-uninitialized>)
      set_property(GLOBAL APPEND PROPERTY WARPLOOM_OBJECTS ${target})
      set_property(GLOBAL APPEND PROPERTY WARPLOOM_ISA_TARGETS ${target})
    endif()
  endforeach()

  file(GLOB generators CONFIGURE_DEPENDS "${folder}/*.gen.py")
  if(x86 AND generators)
    foreach(generator IN LISTS generators)
      get_filename_component(name "${generator}" NAME)
      string(REPLACE ".gen.py" ".S" name "${name}")
      set(assembly "${PROJECT_BINARY_DIR}/generated/cpu/${name}")
      add_custom_command(OUTPUT "${assembly}"
        COMMAND Python3::Interpreter "${generator}" "${assembly}"
        DEPENDS "${generator}" COMMENT "Generating ${name}" VERBATIM)
      list(APPEND assemblies "${assembly}")
    endforeach()
    file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/generated/cpu")
    add_library(warploom_kernels_assembly OBJECT ${assemblies})
    set_property(GLOBAL APPEND PROPERTY WARPLOOM_OBJECTS warploom_kernels_assembly)
  endif()
endfunction()
