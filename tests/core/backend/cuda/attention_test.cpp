// Which attention cuDNN computes: the cuDNN that runs on the CPU proposes a gradient that sums in any order before the
// one that keeps the rules. Values are tested by the op's cases, whose heads of 8 numbers take cuDNN's engines.
#include "core/ops/attention.h"

#include <array>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/backend/cuda/cuda_backend.h"
#include "core/backend/cuda/cuda_device.h"
#include "core/backend/cuda/engine_plans.h"
#include "tests/support/cuda_on_cpu/gpu.h"

namespace gpubench::cuda {
namespace {

constexpr const char* fused = "cudnn:attention:engine 5";
std::string own(std::string_view why_not) {
  return fmt::format("kernel (not cudnn: {})", why_not);
}

class CudaAttentionTest : public testing::Test {
 protected:
  static std::vector<TensorType> inputs(Dtype dtype, std::int64_t dim) {
    return {{{2, 5, 4, dim}, dtype}, {{2, 6, 2, dim}, dtype}, {{2, 6, 2, dim}, dtype}};
  }
  std::string forward(const AttentionOptions& options, Dtype dtype, std::int64_t dim = 8) const {
    return std::string(planned(options, dtype, dim)->implementation());
  }
  std::unique_ptr<Kernel> planned(const AttentionOptions& options, Dtype dtype, std::int64_t dim = 8) const {
    std::vector<TensorType> given = inputs(dtype, dim);
    if (options.mask) given.push_back({{1, 1, 5, 6}, Dtype::boolean});
    if (options.dropout > 0) given.push_back({{}, Dtype::i64});
    const Attention op(options);
    const std::vector<TensorType> outputs = op.infer(given);
    return backend_.plan(op, {given, outputs}, *backend_.devices()[0]);
  }
  std::string gradient(const AttentionOptions& options, Dtype dtype) const {
    return gradient_on(backend_, options, dtype);
  }
  static std::string gradient_on(const CudaBackend& backend, const AttentionOptions& options, Dtype dtype) {
    std::vector<TensorType> given = inputs(dtype, 8);
    const std::vector<TensorType> results = Attention(options).infer(given);
    given.insert(given.end(), results.begin(), results.end());
    given.push_back(results[0]);
    const AttentionGradient op(options);
    const std::vector<TensorType> outputs = op.infer(given);
    return std::string(backend.plan(op, {given, outputs}, *backend.devices()[0])->implementation());
  }

  CudaBackend backend_{BackendConfig{}};
};

TEST_F(CudaAttentionTest, TypesOfSixteenBitsTakeFusedEngines) {
  EXPECT_EQ(forward({}, Dtype::f16), fused);
  EXPECT_EQ(forward({.causal = true}, Dtype::bf16), fused);
  EXPECT_EQ(forward({}, Dtype::f32), own("float32"));
}

TEST_F(CudaAttentionTest, WhatCudnnComputesOtherwiseStaysWithOurKernels) {
  EXPECT_EQ(forward({.mask = true}, Dtype::f16), own("mask"));
  EXPECT_EQ(forward({.dropout = 0.1}, Dtype::f16), own("dropout"));
  EXPECT_EQ(forward({}, Dtype::f16, 12), own("no engine")) << "no engine has such heads";
}

TEST_F(CudaAttentionTest, GradientsAreSummedInAFixedOrder) {
  EXPECT_EQ(gradient({}, Dtype::f16), fused);
  EXPECT_EQ(gradient({.causal = true}, Dtype::bf16), fused);
  EXPECT_EQ(gradient({}, Dtype::f32), own("float32"));
}

TEST_F(CudaAttentionTest, OurKernelsSayWhyTheLibraryDoesNotComputeThem) {
  const auto why = [&](const AttentionOptions& options, Dtype dtype) {
    return std::string(planned(options, dtype)->why_not_library());
  };
  EXPECT_EQ(why({}, Dtype::f16), "");
  EXPECT_EQ(why({.dropout = 0.5}, Dtype::bf16), "dropout");
  EXPECT_EQ(why({.dropout = 0.5}, Dtype::f32), "float32");
}

TEST_F(CudaAttentionTest, AGradientsWorkspaceObeysTheMemoryLimitThatIsSet) {
  constexpr std::int64_t engine = 5, bytes = 5 << 20;
  cuda_on_cpu::machine().engine_workspace_bytes[engine] = bytes;
  const auto kernel_of = [](std::size_t limit) {
    BackendConfig config;
    config.devices = {LogicalDevice{.memory = {.limit = limit}}};
    return gradient_on(CudaBackend(config), {}, Dtype::f16);
  };
  EXPECT_EQ(kernel_of(0), fused) << "an eighth of all memory";
  EXPECT_EQ(kernel_of(8 * bytes), fused);
  EXPECT_EQ(kernel_of(8 * bytes - 8), own("no engine"));
  cuda_on_cpu::machine().engine_workspace_bytes.erase(engine);
}

TEST_F(CudaAttentionTest, AsksOnceForEachProblem) {
  const std::size_t before = cuda_on_cpu::engine_queries();
  forward({}, Dtype::f16);
  const std::size_t one = cuda_on_cpu::engine_queries() - before;
  EXPECT_GT(one, 0U);
  forward({}, Dtype::f16);
  EXPECT_EQ(cuda_on_cpu::engine_queries() - before, one);
  forward({.causal = true}, Dtype::f16);
  EXPECT_GT(cuda_on_cpu::engine_queries() - before, one);
}

TEST_F(CudaAttentionTest, SaysWhyThereIsNoEngine) {
  CudaDevice& device = cuda_device(*backend_.devices()[0]);
  const auto why_not = [&](std::int64_t batch, std::int64_t dim) {
    return choose_engine(device, AttentionProblem{.dtype = Dtype::f16,
                                                  .batch = batch,
                                                  .queries = 5,
                                                  .keys = 5,
                                                  .heads = 1,
                                                  .groups = 1,
                                                  .dim = dim,
                                                  .value_dim = dim})
        .why_not;
  };
  EXPECT_THAT(why_not(0, 8), testing::HasSubstr("an extent below 1"));
  EXPECT_THAT(why_not(1, 12), testing::HasSubstr("cuDNN proposes no engine"));
}

}  // namespace
}  // namespace gpubench::cuda
