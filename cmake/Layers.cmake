# One object library per layer, one library made of all of them.

include(GNUInstallDirs)

# What every layer sees: its own headers as "ops/infer.h", the public ones as <warploom/graph.h>.
add_library(warploom_headers INTERFACE)
target_include_directories(warploom_headers INTERFACE
  "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
# fmt is not linked: src/base/fmt_library.cpp compiles what its headers leave out.
target_include_directories(warploom_headers SYSTEM INTERFACE
  $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
target_link_libraries(warploom_headers INTERFACE
  warploom_compiler Threads::Threads ${CMAKE_DL_LIBS})

# warploom_layer(<folder under src> [DEPENDS <folder>...] [LIBRARIES <target>...])
# Adds the object library warploom_<folder>. A layer without sources is fine.
function(warploom_layer folder)
  cmake_parse_arguments(PARSE_ARGV 1 layer "" "" "DEPENDS;LIBRARIES")
  string(REPLACE "/" "_" target "warploom_${folder}")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp")
  # The kernels of the CPU engine are compiled once per instruction set (CpuKernels.cmake).
  list(FILTER sources EXCLUDE REGEX "/engines/cpu/kernels/[^/]+/|\\.isa\\.cpp$")
  list(TRANSFORM layer_DEPENDS PREPEND "warploom_")
  list(TRANSFORM layer_DEPENDS REPLACE "/" "_")
  if(sources)
    add_library(${target} OBJECT ${sources})
    target_link_libraries(${target}
      PUBLIC warploom_headers ${layer_DEPENDS} PRIVATE ${layer_LIBRARIES})
    set_property(GLOBAL APPEND PROPERTY WARPLOOM_OBJECTS ${target})
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE warploom_headers ${layer_DEPENDS})
  endif()
endfunction()

# `warploom` is what users link; `warploom_internal` is the same objects with nothing hidden, for
# tests, tools and benchmarks.
function(warploom_libraries)
  get_property(layers GLOBAL PROPERTY WARPLOOM_OBJECTS)
  foreach(layer IN LISTS layers)
    list(APPEND objects $<TARGET_OBJECTS:${layer}>)
  endforeach()

  add_library(warploom ${objects})
  add_library(warploom::warploom ALIAS warploom)
  set_target_properties(warploom PROPERTIES
    LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  target_include_directories(warploom PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(warploom PUBLIC cxx_std_20)
  target_link_libraries(warploom
    PRIVATE $<BUILD_INTERFACE:warploom_compiler> Threads::Threads ${CMAKE_DL_LIBS})

  # For programs written for the cuDNN Frontend: finds <cudnn_frontend.h> and <cudnn.h>.
  add_library(warploom_cudnn_frontend INTERFACE)
  add_library(warploom::cudnn_frontend ALIAS warploom_cudnn_frontend)
  set_target_properties(warploom_cudnn_frontend PROPERTIES EXPORT_NAME cudnn_frontend)
  target_include_directories(warploom_cudnn_frontend INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/warploom/compat>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/warploom/compat>)
  target_link_libraries(warploom_cudnn_frontend INTERFACE
    warploom $<TARGET_NAME_IF_EXISTS:nlohmann_json::nlohmann_json>)
  target_compile_definitions(warploom_cudnn_frontend INTERFACE
    $<$<NOT:$<TARGET_EXISTS:nlohmann_json::nlohmann_json>>:CUDNN_FRONTEND_SKIP_JSON_LIB>)

  add_library(warploom_internal STATIC ${objects})
  set_target_properties(warploom_internal PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(warploom_internal PUBLIC warploom_headers)
endfunction()
