# The one helper for targets: a static library per folder, linked only to the folders it may include.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(GPUBENCH_CCACHE ccache)
if(GPUBENCH_CCACHE)
  # Paths count relative to the checkout, so that one checkout finds what another has compiled.
  set(GPUBENCH_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${GPUBENCH_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${GPUBENCH_LAUNCHER})
endif()

# Sources of a target are compiled in chunks: most of the time for a small source goes into reading the same headers. Names
# in anonymous namespaces must differ within a folder. OFF for tools that read one source at a time.
option(GPUBENCH_UNITY "Compile several sources of a folder as one" ON)
set(GPUBENCH_UNITY_SIZE 18 CACHE STRING "Sources in a chunk; fewer of them make a changed source faster to rebuild")
set(GPUBENCH_TEST_UNITY_SIZE 12)  # of tests

add_library(gpubench_options INTERFACE)
set(options -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion
            -Wno-restrict)  # false alarms of GCC 12 on std::string (GCC bug 105651)
if(GPUBENCH_UNITY)
  # Local variables of a source may have the names of functions in another source of the chunk.
  list(APPEND options -Wshadow=local -Wno-subobject-linkage)
else()
  list(APPEND options -Wshadow)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND options "SHELL:--param ggc-min-heapsize=524288")  # kilobytes before it collects garbage: a tenth less time
endif()
if(GPUBENCH_ARCH)
  list(APPEND options -march=${GPUBENCH_ARCH})
endif()
if(GPUBENCH_WERROR)
  list(APPEND options -Werror)
endif()
target_compile_options(gpubench_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${options}>")
if(GPUBENCH_SANITIZE)
  # GCC reports uses of uninitialized values in instrumented code where there are none.
  # Each access by a null pointer ends the program anyway; to check all of them makes large sources compile up to a third
  # longer.
  set(sanitize -fsanitize=${GPUBENCH_SANITIZE} -fno-sanitize=null -fno-omit-frame-pointer -fno-sanitize-recover=all
               -Wno-maybe-uninitialized)
  set(plain "$<BOOL:$<TARGET_PROPERTY:GPUBENCH_PLAIN>>")
  target_compile_options(gpubench_options INTERFACE "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:${plain}>>:${sanitize}>")
  target_link_options(gpubench_options INTERFACE -fsanitize=${GPUBENCH_SANITIZE})
endif()
target_include_directories(gpubench_options INTERFACE ${CMAKE_SOURCE_DIR})

# Makes chunks of about SIZE sources, all of one length: a short last chunk would take hardly less time than a full one.
function(gpubench_unity target size)
  get_target_property(sources ${target} SOURCES)
  list(LENGTH sources count)
  math(EXPR chunks "(${count} + ${size} * 3 / 4 - 1) / ${size}")
  if(chunks EQUAL 0)
    set(chunks 1)
  endif()
  set(index 0)
  foreach(source IN LISTS sources)
    math(EXPR chunk "${index} * ${chunks} / ${count}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${chunk})
    math(EXPR index "${index} + 1")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${GPUBENCH_UNITY} UNITY_BUILD_MODE GROUP)
endfunction()

# Folders whose loops go over data are optimized further; elsewhere that only takes a tenth more time to compile.
function(gpubench_data_loops target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O3>)
endfunction()

# Code of which a few calls run in a step: it compiles a fifth faster, and its calls take as long. -O1 and -Og follow the
# flag of std::optional less well than -O2: their warnings of uninitialized values are false alarms.
function(gpubench_without_data_loops target)
  target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:-O1;-Wno-maybe-uninitialized>")
endfunction()

# Code that runs outside of measurements compiles another fifth faster; a training that called it would take up to 4 %
# longer. Without -finline-functions-called-once objects are twice as large.
function(gpubench_outside_measurements target)
  target_compile_options(
    ${target} PRIVATE "$<$<CONFIG:Release>:-Og;-finline-functions-called-once;-Wno-maybe-uninitialized>")
endfunction()

# gpubench_module(FOLDER SOURCES file... [DEPENDS folder...] [LIBRARIES target...] [CHUNK n])
# makes the static library of FOLDER (core/backend/cpu becomes the target core_backend_cpu). DEPENDS are folders and
# are public; LIBRARIES are third-party targets and stay private, because no header outside FOLDER shows their types.
# CHUNK: about so many sources in a chunk, where GPUBENCH_UNITY_SIZE makes one that compiles much longer or shorter than
# the others.
function(gpubench_module folder)
  cmake_parse_arguments(ARG "" "CHUNK" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  string(REPLACE "/" "_" target ${folder})
  if(NOT ARG_CHUNK)
    set(ARG_CHUNK ${GPUBENCH_UNITY_SIZE})
  endif()
  add_library(${target} STATIC ${ARG_SOURCES})
  gpubench_unity(${target} ${ARG_CHUNK})
  target_link_libraries(${target} PUBLIC gpubench_options)
  foreach(dependency IN LISTS ARG_DEPENDS)
    string(REPLACE "/" "_" dependency ${dependency})
    target_link_libraries(${target} PUBLIC ${dependency})
  endforeach()
  target_link_libraries(${target} PRIVATE ${ARG_LIBRARIES})
endfunction()

# Test code is compiled without optimization: that takes a third of the time, and is the same in the release and asan
# presets, so that ccache serves both. What is under test keeps its options. The thread sanitizer must instrument all
# code.
macro(gpubench_compile_as_test target)
  target_compile_options(${target} PRIVATE -O0)
  if(NOT GPUBENCH_SANITIZE STREQUAL "thread")
    set_target_properties(${target} PROPERTIES GPUBENCH_PLAIN ON)
    set(CMAKE_CXX_FLAGS_RELEASE "" PARENT_SCOPE)
    set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "" PARENT_SCOPE)
  endif()
endmacro()

# gpubench_text_literal(RESULT FILE): the text of FILE as a literal of C++; CMake configures again when it changes.
function(gpubench_text_literal result file)
  set(file ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  file(READ ${file} text)
  set(${result} "R\"~~~(${text})~~~\"" PARENT_SCOPE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endfunction()

# gpubench_test_objects(NAME SOURCES file... [DEPENDS folder...] [LIBRARIES target...])
# compiles tests that several programs link as $<TARGET_OBJECTS:NAME>.
function(gpubench_test_objects name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  add_library(${name} OBJECT ${ARG_SOURCES})
  gpubench_unity(${name} ${GPUBENCH_TEST_UNITY_SIZE})
  string(REPLACE "/" "_" dependencies "${ARG_DEPENDS}")
  target_link_libraries(${name} PRIVATE gpubench_options ${dependencies} ${ARG_LIBRARIES} GTest::gmock GTest::gtest)
  gpubench_compile_as_test(${name})
endfunction()

# gpubench_test(FOLDER SOURCES file... [DEPENDS folder...] [LIBRARIES target...] [SHARDS n])
# makes one GoogleTest program for FOLDER's tests and one CTest test, cases/FOLDER, that runs all its cases in one process
# and reports each (tests/support/main.cpp); SHARDS divides the cases among n processes. OpenMP's threads sleep between
# loops there: teams that spin starve each other where tests share the cores. GPUs are hidden from these tests, which
# shall see the same on every machine.
function(gpubench_test folder)
  cmake_parse_arguments(ARG "" "SHARDS" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  string(REPLACE "/" "_" target test_${folder})
  string(REPLACE "/" "_" dependencies "${ARG_DEPENDS}")
  add_executable(${target} ${ARG_SOURCES})
  gpubench_unity(${target} ${GPUBENCH_TEST_UNITY_SIZE})
  target_link_libraries(${target} PRIVATE ${dependencies} gpubench_options ${ARG_LIBRARIES} tests_main GTest::gmock GTest::gtest)
  gpubench_compile_as_test(${target})
  if(NOT ARG_SHARDS)
    set(ARG_SHARDS 1)
  endif()
  foreach(shard RANGE 1 ${ARG_SHARDS})
    set(name cases/${folder})
    if(ARG_SHARDS GREATER 1)
      string(APPEND name /${shard}_of_${ARG_SHARDS})
    endif()
    math(EXPR index "${shard} - 1")
    set(report ${CMAKE_BINARY_DIR}/tests/reports/${name}.xml)
    get_filename_component(reports ${report} DIRECTORY)
    file(MAKE_DIRECTORY ${reports})
    add_test(NAME ${name} COMMAND ${target} --gtest_brief=1 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES TIMEOUT 1800
      ENVIRONMENT "OMP_WAIT_POLICY=passive;GPUBENCH_TESTS_REPORT=${report};GPUBENCH_TESTS_FOLDER=${folder}/;GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${index}"
      ENVIRONMENT_MODIFICATION "CUDA_VISIBLE_DEVICES=set:")
  endforeach()
endfunction()

# gpubench_lua_tests(FOLDER script... [PROGRAM target])
# makes a CTest test of each script, run by the program itself (or another of the kind); scripts may require what
# tests/support/lua holds.
function(gpubench_lua_tests folder)
  cmake_parse_arguments(ARG "" "PROGRAM" "" ${ARGN})
  if(NOT ARG_PROGRAM)
    set(ARG_PROGRAM gpubench)
  endif()
  foreach(script IN LISTS ARG_UNPARSED_ARGUMENTS)
    get_filename_component(file ${script} NAME)
    get_filename_component(absolute ${script} ABSOLUTE)
    set(out ${CMAKE_BINARY_DIR}/tests/out/${folder}/${file})
    file(MAKE_DIRECTORY ${out})
    add_test(NAME ${folder}/${file} COMMAND ${ARG_PROGRAM} ${absolute} --out ${out} --quick
             WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${folder}/${file} PROPERTIES TIMEOUT 300
                         ENVIRONMENT "GPUBENCH_PATH=${CMAKE_SOURCE_DIR}/tests/support/lua;CUDA_VISIBLE_DEVICES=")
  endforeach()
endfunction()
