# The CUDA toolkit. GPUBENCH_HAS_CUDA: whether the GPU backend is built. Driver, cuBLASLt and cuDNN are opened at run time,
# so one binary runs on machines with and without a GPU.
set(GPUBENCH_CUDA "AUTO" CACHE STRING "GPU backend: ON, OFF, or AUTO (on if the CUDA toolkit is found)")
set_property(CACHE GPUBENCH_CUDA PROPERTY STRINGS AUTO ON OFF)
# Kernels are compiled for the GPUs of this machine. Without a GPU they are compiled for one virtual architecture, which
# the driver of any supported GPU compiles further when the program starts.
set(GPUBENCH_CUDA_ARCHITECTURES "" CACHE STRING
    "GPU architectures to compile kernels for: all-major (compute capability 7.5 to 12.0), or a list such as 80;90; empty: those of this machine's GPUs, else 75-virtual")
function(gpubench_cuda_architectures result)
  set(found ${GPUBENCH_CUDA_ARCHITECTURES})
  if(NOT found)
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                    OUTPUT_VARIABLE capabilities OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed AND capabilities MATCHES "^[0-9]+[.][0-9]+(\n[0-9]+[.][0-9]+)*$")
      string(REPLACE "." "" capabilities "${capabilities}")
      string(REPLACE "\n" ";" found "${capabilities}")
      list(REMOVE_DUPLICATES found)
    else()
      set(found 75-virtual)
    endif()
  endif()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# The folders of headers in NVIDIA's wheels of $PYTHON, or of python3: where pip is all that installed cuDNN and NCCL.
function(gpubench_wheel_includes result)
  set(python $ENV{PYTHON})
  if(NOT python)
    set(python python3)
  endif()
  set(script "import glob, sys; print(';'.join(sorted(i for p in sys.path if p for i in glob.glob(p + '/nvidia/*/include'))))")
  execute_process(COMMAND ${python} -c "${script}" OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
                  RESULT_VARIABLE failed)
  if(failed)
    set(found "")
  endif()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

set(GPUBENCH_HAS_CUDA OFF)
if(GPUBENCH_CUDA)
  find_package(CUDAToolkit 13.0 QUIET)
  gpubench_wheel_includes(wheel_includes)
  find_path(GPUBENCH_CUDNN_INCLUDE cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS} PATHS ${wheel_includes})
  # nvcc refuses a host compiler that it does not know as soon as it reads a source. CMake's check_language compiles,
  # which takes three seconds more.
  set(nvcc ${CMAKE_CUDA_COMPILER})
  if(CUDAToolkit_FOUND AND NOT nvcc)
    set(nvcc ${CUDAToolkit_NVCC_EXECUTABLE})
  endif()
  set(nvcc_reads OFF)
  if(nvcc)
    execute_process(COMMAND ${nvcc} -x cu -E /dev/null OUTPUT_QUIET ERROR_VARIABLE nvcc_error RESULT_VARIABLE failed)
    if(NOT failed)
      set(nvcc_reads ON)
    endif()
  endif()
  if(nvcc_reads AND CUDAToolkit_FOUND AND GPUBENCH_CUDNN_INCLUDE)
    set(CMAKE_CUDA_COMPILER ${nvcc} CACHE FILEPATH "nvcc")
    set(GPUBENCH_HAS_CUDA ON)
  elseif(NOT GPUBENCH_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "GPUBENCH_CUDA=ON needs the CUDA toolkit 13.0 or later (nvcc: ${nvcc}) and cuDNN's header "
                        "(${GPUBENCH_CUDNN_INCLUDE})\n${nvcc_error}")
  elseif(nvcc_reads AND CUDAToolkit_FOUND)
    message(WARNING "The program gets no GPU backend: cudnn.h is neither with the CUDA toolkit nor in a wheel of Python "
                    "(pip install nvidia-cudnn-cu13, and PYTHON=that Python)")
  endif()
endif()

if(GPUBENCH_HAS_CUDA)
  gpubench_cuda_architectures(CMAKE_CUDA_ARCHITECTURES)
  if(GPUBENCH_CCACHE)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${GPUBENCH_LAUNCHER})
  endif()
  enable_language(CUDA)
  if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know nvcc's C++20 option
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  set(CMAKE_CUDA_STANDARD 20)

  # Headers only: just the kernels' library links against CUDA's runtime, and tests replace that library.
  add_library(gpubench_cuda_headers INTERFACE)
  target_include_directories(gpubench_cuda_headers SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS} ${GPUBENCH_CUDNN_INCLUDE})

  # Warn about registers that spill to memory, which we treat as a fault of the kernel.
  target_compile_options(gpubench_options INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Xptxas=-warn-spills>")
  if(GPUBENCH_WERROR)
    target_compile_options(gpubench_options INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Xptxas=-Werror -Werror=all-warnings>")
  endif()
endif()

# NCCL's header only: the library is opened at the first exchange between GPUs.
set(GPUBENCH_HAS_NCCL OFF)
if(GPUBENCH_HAS_CUDA)
  find_path(GPUBENCH_NCCL_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} PATHS ${wheel_includes})
  if(GPUBENCH_NCCL_INCLUDE)
    set(GPUBENCH_HAS_NCCL ON)
    add_library(gpubench_nccl_headers INTERFACE)
    target_include_directories(gpubench_nccl_headers SYSTEM INTERFACE ${GPUBENCH_NCCL_INCLUDE})
  endif()
endif()
message(STATUS "GPU backend: ${GPUBENCH_HAS_CUDA} (kernels for ${CMAKE_CUDA_ARCHITECTURES}), NCCL: ${GPUBENCH_HAS_NCCL}")
