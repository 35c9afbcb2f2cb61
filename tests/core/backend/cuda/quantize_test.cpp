// How products of int8 are asked of cuBLASLt, and what is said where it has none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/backend/cuda/cuda_backend.h"
#include "core/device/device.h"
#include "core/ops/quantized_linear.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/expect_error.h"

namespace gpubench::cuda {
namespace {

/// Restores the machine that a test changes.
class CudaQuantizedTest : public testing::Test {
 protected:
  ~CudaQuantizedTest() override { cuda_on_cpu::machine() = before_; }

  static std::unique_ptr<Kernel> plan(const CudaBackend& backend, const Op& op, std::vector<TensorType> inputs) {
    const std::vector<TensorType> outputs = op.infer(inputs);
    Device& device = *backend.devices()[0];
    device.bind_to_thread();
    return backend.plan(op, {inputs, outputs}, device);
  }
  static CudaBackend backend(int search = 0) {
    return CudaBackend(BackendConfig{.options = CudaOptions{.matmul_search = search}});
  }

 private:
  cuda_on_cpu::Machine before_ = cuda_on_cpu::machine();
};

const std::vector<TensorType> odd{{{7, 13}, Dtype::i8}, {{13, 10}, Dtype::i8}, {{10}, Dtype::f32}};

TEST_F(CudaQuantizedTest, OddLengthsArePadded) {
  const CudaBackend gpu = backend();
  const auto kernel = plan(gpu, QuantizedMatmul(), odd);
  EXPECT_EQ(kernel->implementation(), "cublaslt:1");
  // The library's own, sums of 16 channels, rows and columns of 16.
  EXPECT_GE(kernel->workspace_bytes(), std::size_t{7 * 16 * 4 + 7 * 16 + 16 * 16});
}

TEST_F(CudaQuantizedTest, EqualProblemsShareOneChoice) {
  const CudaBackend gpu = backend();
  const std::size_t before = cuda_on_cpu::heuristic_calls();
  plan(gpu, QuantizedMatmul(), odd);
  plan(gpu, QuantizedMatmul({.activation = Activation::relu}), odd);
  EXPECT_EQ(cuda_on_cpu::heuristic_calls() - before, 1U);
}

TEST_F(CudaQuantizedTest, ASearchMeasuresProductsOfInt8) {
  cuda_on_cpu::machine().matmul_milliseconds = {0.3, 0.1, 0.2};
  const CudaBackend gpu = backend(3);
  EXPECT_EQ(plan(gpu, QuantizedMatmul(), odd)->implementation(), "cublaslt:2 searched");
}

TEST_F(CudaQuantizedTest, WhereTheLibraryHasNoAlgorithmTheProductIsRefused) {
  cuda_on_cpu::machine().matmul_milliseconds = {};
  const CudaBackend gpu = backend();
  EXPECT_ERROR(
      "cuda: quantized_matmul: cuBLASLt has no algorithm for int8[7, 13] times "
      "int8[13, 10]; int8 takes a GPU of compute capability 7.5 or later",
      plan(gpu, QuantizedMatmul(), odd));
}

}  // namespace
}  // namespace gpubench::cuda
