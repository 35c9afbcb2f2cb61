// Fails when the CPU can run an op that no OpCase describes.
#include <cxxabi.h>
#include <gtest/gtest.h>
#include <memory>

#include "core/backend/cpu/cpu_kernels.h"
#include "tests/support/op_case.h"

namespace gpubench::coverage_test {
namespace {

TEST(OpCoverageTest, EveryKernelHasACase) {
  for (const auto& [op, row] : cpu::kernels()) {
    const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(op.name(), nullptr, nullptr, nullptr),
                                                           &std::free);
    EXPECT_TRUE(support::is_covered(op)) << name.get() << " has a kernel but no OpCase";
  }
}

}  // namespace
}  // namespace gpubench::coverage_test
