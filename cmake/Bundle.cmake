# The target "bundle": one archive that runs on any x86-64 Linux. It holds an installed prefix (Install.cmake) and the
# install component "bundle": the distribution's shared libraries and its gnuplot, and tests/gpu_check with its programs
# and scripts. bundle/pack.cmake adds the distribution's glibc, creates and checks the archive. Programs lie in libexec;
# bundle/start.in chooses the glibc and the loader for them.
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
  set_target_properties(gpu_tests gpu_fault PROPERTIES INSTALL_RPATH "$ORIGIN/../lib" BUILD_WITH_INSTALL_RPATH ON)
  target_link_options(gpu_tests PRIVATE -Wl,--disable-new-dtags)
  install(TARGETS gpu_tests gpu_fault RUNTIME_DEPENDENCY_SET bundled_libraries
          RUNTIME DESTINATION libexec ${component}
          LIBRARY DESTINATION libexec ${component})
endif()
install(PROGRAMS ${CMAKE_SOURCE_DIR}/tests/gpu_check DESTINATION ${GPUBENCH_RESOURCES}/tests ${component})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/tests/gpu ${CMAKE_SOURCE_DIR}/tests/peers
        DESTINATION ${GPUBENCH_RESOURCES}/tests ${component} USE_SOURCE_PERMISSIONS
        PATTERN CMakeLists.txt EXCLUDE PATTERN "*.cpp" EXCLUDE PATTERN "*.cu" EXCLUDE PATTERN "*.h" EXCLUDE
        PATTERN "*_test.*" EXCLUDE PATTERN floor EXCLUDE PATTERN __pycache__ EXCLUDE)
install(FILES ${CMAKE_SOURCE_DIR}/tests/jobs/costs.py ${CMAKE_SOURCE_DIR}/tests/jobs/gains.py
              ${CMAKE_SOURCE_DIR}/tests/jobs/judge.py
        DESTINATION ${GPUBENCH_RESOURCES}/tests/jobs ${component})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/tests/jobs/torch/click_model ${CMAKE_SOURCE_DIR}/tests/jobs/torch/remote_reads
        DESTINATION ${GPUBENCH_RESOURCES}/tests/jobs/torch ${component} PATTERN __pycache__ EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/tests/support/lua DESTINATION ${GPUBENCH_RESOURCES}/tests/support ${component})
install(CODE [[file(CREATE_LINK ../share/gpubench/tests/gpu_check ${CMAKE_INSTALL_PREFIX}/bin/gpu_check SYMBOLIC)
                foreach(page README.md LICENSE)
                  file(CREATE_LINK share/gpubench/${page} ${CMAKE_INSTALL_PREFIX}/${page} SYMBOLIC)
                endforeach()]]
        ${component})

# Debian's gnuplot without its libgd, which draws none of our formats and whose libraries (x265, aom, SVT-AV1) would take
# more than half of the archive: calls of it end gnuplot with a message.
find_program(GPUBENCH_CARRIED_GNUPLOT gnuplot-nox)
if(GPUBENCH_CARRIED_GNUPLOT)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${GPUBENCH_CARRIED_GNUPLOT})
  execute_process(COMMAND ${CMAKE_NM} --dynamic ${GPUBENCH_CARRIED_GNUPLOT} OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[UB] gd[A-Z][A-Za-z0-9]*" names "${names}")
  list(TRANSFORM names REPLACE "^U (.*)" "GD_FUNCTION(\\1)")
  list(TRANSFORM names REPLACE "^B (.*)" "GD_POINTER(\\1)")
  list(JOIN names "\n" gd_names)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/bundle/gd.cpp.in ${CMAKE_BINARY_DIR}/bundle/gd.cpp @ONLY)
  add_library(gd_without_images SHARED ${CMAKE_BINARY_DIR}/bundle/gd.cpp)
  set_target_properties(gd_without_images PROPERTIES OUTPUT_NAME gd SOVERSION 3)
  install(TARGETS gd_without_images LIBRARY DESTINATION lib NAMELINK_SKIP ${component})
  add_executable(carried_gnuplot IMPORTED)
  set_target_properties(carried_gnuplot PROPERTIES IMPORTED_LOCATION ${GPUBENCH_CARRIED_GNUPLOT})
  install(IMPORTED_RUNTIME_ARTIFACTS carried_gnuplot RUNTIME_DEPENDENCY_SET bundled_libraries
          RUNTIME DESTINATION libexec ${component})
endif()

# All of glibc must be of one version, its loader too: it lies in a folder of its own.
install(RUNTIME_DEPENDENCY_SET bundled_libraries ${component} DESTINATION lib
        PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|mvec|resolv|util|anl|nsl)[.]so" "^libgd[.]so")

set(pack ${CMAKE_BINARY_DIR}/bundle/pack.cmake)
configure_file(${CMAKE_SOURCE_DIR}/cmake/bundle/pack.cmake.in ${pack} @ONLY)
add_custom_target(bundle COMMAND ${CMAKE_COMMAND} -P ${pack} USES_TERMINAL VERBATIM)
add_dependencies(bundle gpubench)
if(TARGET gpu_tests)
  add_dependencies(bundle gpu_tests gpu_fault)
endif()
if(TARGET gd_without_images)
  add_dependencies(bundle gd_without_images)
endif()
