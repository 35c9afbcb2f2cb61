# Finds all third-party libraries; folders link the targets defined here.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(CLI11 REQUIRED)
find_package(benchmark REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(lua REQUIRED IMPORTED_TARGET lua5.4-c++)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)

# oneDNN's own CMake package requires OpenCL's headers, which its CPU part does not need.
find_library(DNNL_LIBRARY dnnl REQUIRED)
find_path(DNNL_INCLUDE oneapi/dnnl/dnnl.hpp REQUIRED)
file(STRINGS ${DNNL_INCLUDE}/oneapi/dnnl/dnnl_version.h dnnl_major REGEX "define DNNL_VERSION_MAJOR")
string(REGEX MATCH "[0-9]+$" DNNL_VERSION_MAJOR "${dnnl_major}")
add_library(dnnl INTERFACE IMPORTED)
target_link_libraries(dnnl INTERFACE ${DNNL_LIBRARY})
target_include_directories(dnnl INTERFACE ${DNNL_INCLUDE})

find_library(LIBCSV_LIBRARY csv REQUIRED)
find_path(LIBCSV_INCLUDE csv.h REQUIRED)
add_library(libcsv INTERFACE IMPORTED)
target_link_libraries(libcsv INTERFACE ${LIBCSV_LIBRARY})
target_include_directories(libcsv INTERFACE ${LIBCSV_INCLUDE})

find_path(MUSTACHE_INCLUDE kainjow/mustache.hpp PATH_SUFFIXES kainjow-mustache REQUIRED)
add_library(mustache INTERFACE IMPORTED)
target_include_directories(mustache INTERFACE ${MUSTACHE_INCLUDE})

if(GPUBENCH_TESTS)
  find_package(GTest REQUIRED)
endif()

# Open MPI's header only: other MPIs have another ABI, and the library is opened at run time.
find_path(GPUBENCH_MPI_INCLUDE mpi.h HINTS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openmpi/include
          PATH_SUFFIXES openmpi openmpi-x86_64)
set(GPUBENCH_HAS_MPI OFF)
if(GPUBENCH_MPI_INCLUDE)
  file(STRINGS ${GPUBENCH_MPI_INCLUDE}/mpi.h open_mpi REGEX "define OMPI_MAJOR_VERSION" LIMIT_COUNT 1)
  if(open_mpi)
    set(GPUBENCH_HAS_MPI ON)
  endif()
endif()
message(STATUS "Many processes by Open MPI: ${GPUBENCH_HAS_MPI}")
