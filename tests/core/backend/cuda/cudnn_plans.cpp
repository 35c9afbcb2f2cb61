// What real cuDNN plans for our convolutions, on machines without a GPU: cuDNN chooses, builds and sizes engines for a
// GPU that is described to it (CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR), so only running them needs one. The program is one
// CTest test, skipped where there is no cuDNN.
#include <array>
#include <cstdio>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "core/backend/cuda/conv_problem.h"
#include "core/backend/cuda/cudnn_plan.h"
#include "core/base/error.h"
#include "core/base/shared_library.h"

namespace gpubench::cuda {
namespace {

const SharedLibrary& library() {
  constexpr std::array<std::string_view, 1> names{"libcudnn.so.9"};
  static const SharedLibrary opened(names, cuda_library_folders(python_package_folders()));
  return opened;
}

decltype(&cudnnBackendSetAttribute) set_attribute = nullptr;
/// The GPU that plans are for.
cudnnBackendDescriptor_t described = nullptr;

/// Plans name the described GPU where they would name a handle, which cannot be made without a GPU.
cudnnStatus_t set_described(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t type, std::int64_t count, const void* values) {
  if (name == CUDNN_ATTR_OPERATIONGRAPH_HANDLE) return CUDNN_STATUS_SUCCESS;
  if (name == CUDNN_ATTR_EXECUTION_PLAN_HANDLE) {
    return set_attribute(descriptor, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                         static_cast<const void*>(&described));
  }
  if (name == CUDNN_ATTR_ENGINEHEUR_MODE) {
    const cudnnStatus_t status = set_attribute(descriptor, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP,
                                               CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, static_cast<const void*>(&described));
    if (status != CUDNN_STATUS_SUCCESS) return status;
  }
  return set_attribute(descriptor, name, type, count, values);
}

CudnnFunctions bind() {
  CudnnFunctions to{};
  const SharedLibrary& from = library();
  from.bind(to.get_version, "cudnnGetVersion");
  from.bind(to.get_error_string, "cudnnGetErrorString");
  from.bind(to.get_last_error_string, "cudnnGetLastErrorString");
  from.bind(to.backend_create_descriptor, "cudnnBackendCreateDescriptor");
  from.bind(to.backend_destroy_descriptor, "cudnnBackendDestroyDescriptor");
  from.bind(to.backend_get_attribute, "cudnnBackendGetAttribute");
  from.bind(to.backend_finalize, "cudnnBackendFinalize");
  from.bind(set_attribute, "cudnnBackendSetAttribute");
  to.backend_set_attribute = &set_described;
  to.create = [](cudnnHandle_t* handle) {
    *handle = nullptr;
    return CUDNN_STATUS_SUCCESS;
  };
  to.destroy = [](cudnnHandle_t) { return CUDNN_STATUS_SUCCESS; };
  to.set_stream = [](cudnnHandle_t, cudaStream_t) { return CUDNN_STATUS_SUCCESS; };
  to.backend_execute = [](cudnnHandle_t, cudnnBackendDescriptor_t, cudnnBackendDescriptor_t) {
    return CUDNN_STATUS_SUCCESS;
  };
  return to;
}

struct Gpu {
  int compute_capability = 0;  ///< 900 for 9.0
  int multiprocessors = 0;
  int shared_memory_bytes = 0;  ///< that a block may ask for
};

/// What cuDNN asks of a GPU; figures of the A100, H100 and B200 where they differ.
std::string description(const Gpu& gpu) {
  return fmt::format(
      R"({{"deviceVer":{0},"driverVer":13000,"runtimeVer":13000,"cudaDeviceId":0,"deviceId":0,"totalGlobalMem":85899345920,)"
      R"("maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,)"
      R"("multiProcessorCount":{1},"warpSize":32,"maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":{2},)"
      R"("reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,"maxCtasPerSM":32,"maxThreadsPerBlock":1024,)"
      R"("maxThreadsPerSM":2048,"pciDeviceId":0,"isTccDriver":0,"supportCoopLaunch":1,"smClockRateKHz":1980000,)"
      R"("memClockRateKHz":2619000,"l2CacheSize":52428800,"deviceName":"GPU"}})",
      gpu.compute_capability, gpu.multiprocessors, gpu.shared_memory_bytes);
}

void describe(const Gpu& gpu) {
  if (described != nullptr) cudnn().backend_destroy_descriptor(described);
  check(cudnn().backend_create_descriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &described), "the described GPU");
  const std::string json = description(gpu);
  check(set_attribute(described, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                      static_cast<std::int64_t>(json.size() + 1), json.c_str()),
        "the described GPU's JSON");
  check(cudnn().backend_finalize(described), "cudnnBackendFinalize of the described GPU");
}

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

class CudnnPlans : public testing::TestWithParam<Gpu> {};

TEST_P(CudnnPlans, EveryConvolutionHasAnEngineThatKeepsOurRules) {
  describe(GetParam());
  const std::size_t workspace = workspace_limit(std::size_t{80} << 30);
  for (const Case& one : cases()) {
    for (const ConvolutionKind kind : kinds) {
      if (kind != ConvolutionKind::forward && one.options.bias) continue;
      for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
        SCOPED_TRACE(fmt::format("{}, {}, kind {}", one.name, to_string(dtype), static_cast<int>(kind)));
        expect_plan(one, kind, {dtype, false, workspace});
        if (dtype == Dtype::f32) expect_plan(one, kind, {dtype, true, workspace});
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Gpus, CudnnPlans,
                         testing::Values(Gpu{800, 108, 166912}, Gpu{900, 132, 232448}, Gpu{1000, 148, 232448}),
                         [](const auto& gpu) { return fmt::format("sm{}", gpu.param.compute_capability / 10); });

}  // namespace

const CudnnFunctions& cudnn() {
  static const CudnnFunctions functions = bind();
  return functions;
}

}  // namespace gpubench::cuda

int main(int count, char** arguments) {
  constexpr int skipped = 77;  // what CTest is told (SKIP_RETURN_CODE)
  testing::InitGoogleTest(&count, arguments);
  try {
    gpubench::cuda::cudnn();
  } catch (const gpubench::Error& error) {
    std::printf("Skipped: %s\n", error.what());
    return skipped;
  }
  return RUN_ALL_TESTS();
}
