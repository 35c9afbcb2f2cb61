# GPUBENCH_LIBRARIES: the libraries of the build, for --version and run.json, as entries "part=Library version, ...".
# Versions are those of the headers; a library opened at run time may be newer.

# header_version(RESULT FILE MACRO...): "2.6.3" from the values of #define lines.
function(header_version result file)
  set(numbers "")
  foreach(macro IN LISTS ARGN)
    file(STRINGS ${file} line REGEX "^[ ]*#[ ]*define[ ]+${macro}[ ]+[0-9]+" LIMIT_COUNT 1)
    string(REGEX REPLACE ".*${macro}[ ]+([0-9]+).*" "\\1" number "${line}")
    list(APPEND numbers ${number})
  endforeach()
  list(JOIN numbers "." version)
  set(${result} ${version} PARENT_SCOPE)
endfunction()

header_version(version ${DNNL_INCLUDE}/oneapi/dnnl/dnnl_version.h DNNL_VERSION_MAJOR DNNL_VERSION_MINOR DNNL_VERSION_PATCH)
set(GPUBENCH_LIBRARIES "CPU=oneDNN ${version}")

set(parts "not built: no CUDA toolkit")
if(GPUBENCH_HAS_CUDA)
  header_version(version ${GPUBENCH_CUDNN_INCLUDE}/cudnn_version.h CUDNN_MAJOR CUDNN_MINOR CUDNN_PATCHLEVEL)
  list(JOIN CMAKE_CUDA_ARCHITECTURES " " architectures)  # tests/gpu_check reads them
  set(parts "CUDA ${CUDAToolkit_VERSION}, kernels for ${architectures}, cuDNN ${version}")
  if(GPUBENCH_HAS_NCCL)
    header_version(nccl ${GPUBENCH_NCCL_INCLUDE}/nccl.h NCCL_MAJOR NCCL_MINOR NCCL_PATCH)
    string(APPEND parts ", NCCL ${nccl}")
  else()
    string(APPEND parts ", built without NCCL")
  endif()
endif()
list(APPEND GPUBENCH_LIBRARIES "GPU=${parts}")

set(parts "not built: no Open MPI")
if(GPUBENCH_HAS_MPI)
  header_version(version ${GPUBENCH_MPI_INCLUDE}/mpi.h OMPI_MAJOR_VERSION OMPI_MINOR_VERSION OMPI_RELEASE_VERSION)
  set(parts "Open MPI ${version}")
endif()
list(APPEND GPUBENCH_LIBRARIES "processes=${parts}" "scripts=Lua ${lua_VERSION}")
