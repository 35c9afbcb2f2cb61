// What the installed cuDNN plans for described GPUs. The program is one CTest test, skipped where there is no cuDNN.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "core/backend/cuda/conv_problem.h"
#include "core/backend/cuda/convolution_graph.h"
#include "core/backend/cuda/cudnn_plan.h"
#include "tests/core/backend/cuda/described_gpu.h"

namespace gpubench::cuda {
namespace {

struct Case {
  const char* name;
  Shape image, filter;
  Conv2DAttributes options;
};

std::vector<Case> cases() {
  const Conv2DAttributes same{.padding = Padding::same};
  const Conv2DAttributes biased{.bias = true, .activation = Activation::relu};
  return {
      {"grey", {2, 6, 7, 1}, {3, 3, 1, 16}, same},
      {"odd, strided", {2, 5, 6, 3}, {2, 3, 3, 5}, {.strides = {2, 3}, .padding = Padding::same}},
      {"dilated", {2, 5, 5, 16}, {3, 3, 16, 16}, {.dilations = {2, 2}}},
      {"pointwise", {2, 4, 4, 8}, {1, 1, 8, 4}, {}},
      {"grouped", {8, 14, 14, 64}, {3, 3, 16, 64}, {.padding = Padding::same, .groups = 4}},
      {"depthwise", {64, 56, 56, 144}, {3, 3, 1, 144}, {.padding = Padding::same, .groups = 144}},
      {"depthwise, strided",
       {64, 56, 56, 144},
       {3, 3, 1, 144},
       {.strides = {2, 2}, .padding = Padding::same, .groups = 144}},
      {"bias", {2, 5, 6, 3}, {2, 3, 3, 5}, {.bias = true}},
      {"first layer of digits", {128, 28, 28, 1}, {3, 3, 1, 32}, biased},
      {"second layer of digits", {128, 13, 13, 32}, {3, 3, 32, 64}, biased},
      {"stem of a residual network", {256, 224, 224, 3}, {7, 7, 3, 64}, {.strides = {2, 2}, .padding = Padding::same}},
      {"its body", {256, 56, 56, 64}, {3, 3, 64, 64}, same}};
}

constexpr std::array kinds = {ConvolutionKind::forward, ConvolutionKind::input_gradient,
                              ConvolutionKind::filter_gradient};

/// One plan: it is there, fits into the workspace, and serves two kernels, each with its own memory.
void expect_plan(const Case& one, ConvolutionKind kind, const EngineRules& rules) {
  const Conv2D op(one.options);
  const ConvolutionProblem problem = convolution_problem(op, kind, one.options, rules.dtype, one.image, one.filter);
  CudnnHandle handle;
  std::string why_not;
  const auto plans = CudnnPlan::candidates(convolution_graph(problem, handle.handle()), handle, rules, 1, why_not);
  ASSERT_EQ(plans.size(), 1U) << why_not;
  EXPECT_LE(plans[0]->workspace_bytes(), rules.workspace_limit);
  std::array<std::byte, 64> bytes{};
  const std::array<void*, 4> memory{bytes.data(), bytes.data() + 16, bytes.data() + 32, bytes.data() + 48};
  const auto used = std::span(memory).first(problem.bias ? 4 : 3);
  CudnnRun first(plans[0]), second(plans[0]);
  for (int run = 0; run < 2; ++run) first.run(nullptr, used, bytes.data());
  second.run(nullptr, used, bytes.data() + 16);
}

class CudnnPlans : public testing::TestWithParam<DescribedGpu> {};

TEST_P(CudnnPlans, EveryConvolutionHasAnEngineThatKeepsOurRules) {
  const PlanningFor planning(GetParam());
  const std::size_t workspace = workspace_limit(GetParam().memory_bytes());
  for (const Case& one : cases()) {
    for (const ConvolutionKind kind : kinds) {
      if (kind != ConvolutionKind::forward && one.options.bias) continue;
      for (const Dtype dtype : GetParam().types()) {
        SCOPED_TRACE(fmt::format("{}, {}, kind {}", one.name, to_string(dtype), static_cast<int>(kind)));
        expect_plan(one, kind, {dtype, false, workspace});
        if (dtype == Dtype::f32) expect_plan(one, kind, {dtype, true, workspace});
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Gpus, CudnnPlans, testing::ValuesIn(described_gpus().begin(), described_gpus().end()),
                         [](const auto& gpu) { return std::string(gpu.param.name); });

}  // namespace

}  // namespace gpubench::cuda

int main(int count, char** arguments) {
  constexpr int skipped = 77;  // what CTest is told (SKIP_RETURN_CODE)
  testing::InitGoogleTest(&count, arguments);
  ::unsetenv("CUDA_VISIBLE_DEVICES");  // models are built on the simulated GPU
  const bool needs_cudnn = !GTEST_FLAG_GET(filter).starts_with("ModelConvolutions.");
  if (const std::string absence = gpubench::cuda::absence_of_cudnn(); needs_cudnn && !absence.empty()) {
    std::printf("Skipped: %s\n", absence.c_str());
    return skipped;
  }
  return RUN_ALL_TESTS();
}
