// The functions of CUDA's runtime that nvcc's objects call: they name the kernels that the program has, and launch
// them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime_api.h>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "core/base/error.h"
#include "tests/support/cuda_on_cpu/launch_limits.h"
#include "tests/support/cuda_on_cpu/queue.h"
#include "tests/support/ptx/counts.h"
#include "tests/support/ptx/launch.h"

namespace gpubench::ptx {
namespace {

constexpr int resident_blocks = 8;  // of any kernel, as tests/support/cuda_on_cpu says too

/// Never destroyed: counts are written at the program's end.
struct Loaded {
  std::vector<std::unique_ptr<Module>> modules;
  std::map<std::string, const Module*, std::less<>> by_kernel;
};

std::map<const void*, std::string>& kernel_names() {
  static auto& all = *new std::map<const void*, std::string>;
  return all;
}

[[noreturn]] void end_program(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::fflush(stderr);
  std::_Exit(2);
}

const Loaded& load_folder() {
  const char* const folder = std::getenv("CUDA_ON_CPU_PTX");
  if (folder == nullptr) end_program("CUDA_ON_CPU_PTX names no folder with the PTX of the kernels");
  auto& loaded = *new Loaded;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".ptx") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    try {
      const Module& module =
          *loaded.modules.emplace_back(std::make_unique<Module>(std::string(std::istreambuf_iterator<char>(file), {})));
      for (const std::string& kernel : module.kernels()) loaded.by_kernel[kernel] = &module;
    } catch (const Error& error) {
      end_program(entry.path().string() + ": " + error.what());
    }
  }
  count_at_end(loaded.modules);
  return loaded;
}

const Module& module_of(const std::string& kernel) {
  static const Loaded& loaded = load_folder();
  const auto found = loaded.by_kernel.find(kernel);
  if (found == loaded.by_kernel.end()) throw Error("the PTX has no kernel " + kernel);
  return *found->second;
}

cudaError_t launch_kernel(const cudaLaunchConfig_t& config, const void* function, void** arguments) {
  const cudaError_t beyond = cuda_on_cpu::launch_error(config, function);
  if (beyond != cudaSuccess) return cuda_on_cpu::result(beyond);
  const cudaError_t loading = cuda_on_cpu::load_kernel(function);
  if (loading != cudaSuccess) return loading;
  const std::string& name = kernel_names().at(function);
  const Module& module = module_of(name);
  const Function& kernel = module.function(name);
  return cuda_on_cpu::queue(config.stream, [function, blocks = config.gridDim, threads = config.blockDim,
                                            made = make_launch(module, kernel, config.blockDim, config.dynamicSmemBytes,
                                                               arguments)] { run(made, blocks, threads, function); });
}

}  // namespace
}  // namespace gpubench::ptx

// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier): CUDA's names
extern "C" {

void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) {
  return 1;
}
void __cudaRegisterFunction(void**, const char* function, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  gpubench::ptx::kernel_names()[function] = gpubench::ptx::plain_name(name);
}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  try {
    return gpubench::ptx::launch_kernel(*config, function, arguments);
  } catch (const gpubench::Error& error) {
    gpubench::ptx::end_program(error.what());
  }
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, std::size_t) {
  *blocks = gpubench::ptx::resident_blocks;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int, std::size_t,
                                                                   unsigned) {
  *blocks = gpubench::ptx::resident_blocks;
  return cudaSuccess;
}
// nvcc's stubs of kernels refer to these; gpubench launches without them.
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, void*) {
  gpubench::ptx::end_program("PTX: a launch with <<<>>>");
}
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*) {
  gpubench::ptx::end_program("PTX: a launch with <<<>>>");
}
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t) {
  gpubench::ptx::end_program("PTX: a launch with <<<>>>");
}
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t) {
  gpubench::ptx::end_program("PTX: a launch with <<<>>>");
}
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*) {
  return cudaSuccess;
}
}
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)
