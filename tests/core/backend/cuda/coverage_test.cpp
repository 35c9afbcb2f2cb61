// Fails when the CPU can run an op that a GPU cannot.
#include <cxxabi.h>
#include <gtest/gtest.h>
#include <memory>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cuda/cuda_kernels.h"

namespace gpubench {
namespace {

TEST(CudaCoverageTest, EveryOpOfTheCpuHasAKernel) {
  for (const auto& [op, row] : cpu::kernels()) {
    const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(op.name(), nullptr, nullptr, nullptr),
                                                           &std::free);
    EXPECT_TRUE(cuda::kernels().contains(op)) << name.get() << " has no CUDA kernel";
  }
}

}  // namespace
}  // namespace gpubench
