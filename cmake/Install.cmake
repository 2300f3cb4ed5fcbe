# `cmake --install` and what find_package(warploom) reads from there.

include(CMakePackageConfigHelpers)
set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/warploom")

install(TARGETS warploom warploom_cudnn_frontend EXPORT warploomTargets)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" TYPE DOC)
install(EXPORT warploomTargets NAMESPACE warploom:: DESTINATION "${package_folder}")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/warploomConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/warploomConfig.cmake" INSTALL_DESTINATION "${package_folder}")
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/warploomConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/warploomConfig.cmake" "${PROJECT_BINARY_DIR}/warploomConfigVersion.cmake"
  DESTINATION "${package_folder}")
