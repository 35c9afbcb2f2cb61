# The target "bundle": one archive that runs on any x86-64 Linux with glibc 2.36 or later. It holds an installed
# prefix (Install.cmake) and the install component "bundle": the distribution's shared libraries, and tests/gpu_check with
# its programs and scripts. bundle/pack.cmake creates and checks the archive.
set(bundle_name gpubench-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
if(GPUBENCH_ARCH)  # the archive only runs on such processors, so its name says so
  string(APPEND bundle_name -${GPUBENCH_ARCH})
endif()

# Programs find the libraries relative to their own path. RPATH, because RUNPATH does not apply to libraries of libraries.
# The build tree has the same RPATH: the padding that CMake would write there is empty entries, each the working folder.
set_target_properties(gpubench PROPERTIES INSTALL_RPATH "$ORIGIN/../lib" BUILD_WITH_INSTALL_RPATH ON)
target_link_options(gpubench PRIVATE -Wl,--disable-new-dtags)

set(component COMPONENT bundle EXCLUDE_FROM_ALL)
if(TARGET gpu_tests)
  set(GPUBENCH_TEST_PROGRAMS libexec/gpubench)
  set_target_properties(gpu_tests gpu_fault PROPERTIES INSTALL_RPATH "$ORIGIN/../../lib" BUILD_WITH_INSTALL_RPATH ON)
  target_link_options(gpu_tests PRIVATE -Wl,--disable-new-dtags)
  install(TARGETS gpu_tests gpu_fault RUNTIME_DEPENDENCY_SET bundled_libraries
          RUNTIME DESTINATION ${GPUBENCH_TEST_PROGRAMS} ${component}
          LIBRARY DESTINATION ${GPUBENCH_TEST_PROGRAMS} ${component})
endif()
install(PROGRAMS ${CMAKE_SOURCE_DIR}/tests/gpu_check DESTINATION ${GPUBENCH_RESOURCES}/tests ${component})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/tests/gpu ${CMAKE_SOURCE_DIR}/tests/peers
        DESTINATION ${GPUBENCH_RESOURCES}/tests ${component} USE_SOURCE_PERMISSIONS
        PATTERN CMakeLists.txt EXCLUDE PATTERN "*.cpp" EXCLUDE PATTERN "*.cu" EXCLUDE PATTERN "*.h" EXCLUDE
        PATTERN "*_test.*" EXCLUDE PATTERN floor EXCLUDE PATTERN __pycache__ EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/tests/support/lua DESTINATION ${GPUBENCH_RESOURCES}/tests/support ${component})
install(CODE [[file(CREATE_LINK ../share/gpubench/tests/gpu_check ${CMAKE_INSTALL_PREFIX}/bin/gpu_check SYMBOLIC)
                foreach(page README.md LICENSE)
                  file(CREATE_LINK share/gpubench/${page} ${CMAKE_INSTALL_PREFIX}/${page} SYMBOLIC)
                endforeach()]]
        ${component})
# Glibc is not bundled, because it must match the machine's loader.
install(RUNTIME_DEPENDENCY_SET bundled_libraries ${component} DESTINATION lib
        PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|mvec|resolv|util|anl|nsl)[.]so")

set(pack ${CMAKE_BINARY_DIR}/bundle/pack.cmake)
configure_file(${CMAKE_SOURCE_DIR}/cmake/bundle/pack.cmake.in ${pack} @ONLY)
add_custom_target(bundle COMMAND ${CMAKE_COMMAND} -P ${pack} USES_TERMINAL VERBATIM)
add_dependencies(bundle gpubench)
if(TARGET gpu_tests)
  add_dependencies(bundle gpu_tests gpu_fault)
endif()
