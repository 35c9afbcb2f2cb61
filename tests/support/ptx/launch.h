// Runs kernels of PTX in the place of those that the C++ compiler made of the same sources: the programs that link this
// take nvcc's objects, whose calls of CUDA's runtime come here. CUDA_ON_CPU_PTX names the folder with the PTX.
#pragma once
#include <cstddef>
#include <string>
#include <vector>
#include <vector_types.h>

#include "tests/support/ptx/module.h"

namespace gpubench::ptx {

/// A kernel with its arguments, as a stream keeps it.
struct Launch {
  const Module* module;
  const Function* kernel;
  std::vector<std::byte> parameters;
  std::size_t shared_bytes;  ///< static and dynamic ones
};

/// `arguments`: where each parameter's value lies, as cudaLaunchKernelExC() takes them. Throws Error where the block
/// is larger than the kernel's launch bounds.
Launch make_launch(const Module& module, const Function& kernel, const dim3& threads, std::size_t dynamic_bytes,
                   const void* const* arguments);

/// Runs it for each thread of the grid. `function`: what messages call it by.
void run(const Launch& launch, const dim3& blocks, const dim3& threads, const void* function);

}  // namespace gpubench::ptx
