#include "core/experiment/kernels/kernel_case.h"

#include <fmt/format.h>
#include <memory>
#include <random>
#include <vector>

#include "core/base/error.h"
#include "core/device/device.h"
#include "core/math/half.h"
#include "core/ops/conv.h"
#include "core/ops/matmul.h"
#include "core/tensor/host_tensor.h"

namespace gpubench {
namespace {

void check_extent(std::string_view op, std::string_view what, std::int64_t extent) {
  if (extent >= 1) return;
  throw Error(fmt::format("measure.kernels: {}: {} must be at least 1, got {}", op, what, extent));
}

KernelCase checked(KernelCase one) {
  one.description->infer(one.inputs);
  return one;
}

/// Normally distributed numbers, as in benchmarks of frameworks: data changes a GPU's power, and thereby its clock. All
/// cases share a large prime number of them, so that no two rows are equal.
template <class T, class Round>
void fill_normal(const HostTensor& tensor, const Round& round) {
  constexpr std::size_t drawn = 65521;
  static const std::vector<float> values = [] {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> numbers(drawn);
    for (float& number : numbers) number = normal(random);
    return numbers;
  }();
  auto* const to = reinterpret_cast<T*>(tensor.data());
  const auto count = static_cast<std::size_t>(tensor.elements());
  for (std::size_t i = 0, next = 0; i < count; ++i, next = next + 1 == drawn ? 0 : next + 1)
    to[i] = round(values[next]);
}

HostTensor ordinary_numbers(const TensorType& type) {
  HostTensor tensor = HostTensor::zeros(type);
  if (type.dtype == Dtype::f32) fill_normal<float>(tensor, [](float x) { return x; });
  if (type.dtype == Dtype::bf16) fill_normal<math::Bfloat16>(tensor, &math::to_bfloat16);
  if (type.dtype == Dtype::f16) fill_normal<math::Float16>(tensor, &math::to_float16);
  return tensor;
}

}  // namespace

KernelCase matmul_case(const MatmulExtents& extents, Dtype dtype) {
  const auto [m, n, k] = extents;
  check_extent("matmul", "m", m);
  check_extent("matmul", "n", n);
  check_extent("matmul", "k", k);
  return checked({.op = "matmul",
                  .shape = fmt::format("{}x{}x{}", m, n, k),
                  .dtype = dtype,
                  .description = std::make_shared<const Matmul>(),
                  .inputs = {{{m, k}, dtype}, {{k, n}, dtype}}});
}

KernelCase conv2d_case(const Conv2DExtents& extents, Dtype dtype) {
  const auto& [batch, height, width, channels, filters, kernel_size, strides, padding] = extents;
  check_extent("conv2d", "batch", batch);
  check_extent("conv2d", "height", height);
  check_extent("conv2d", "width", width);
  check_extent("conv2d", "channels", channels);
  check_extent("conv2d", "filters", filters);
  check_extent("conv2d", "kernel_size", kernel_size);
  check_extent("conv2d", "strides", strides);
  return checked(
      {.op = "conv2d",
       .shape = fmt::format("{}x{}x{}x{} filters {}x{}x{} strides {} {}", batch, height, width, channels, filters,
                            kernel_size, kernel_size, strides, to_string(padding)),
       .dtype = dtype,
       .description =
           std::make_shared<const Conv2D>(Conv2DAttributes{.strides = {strides, strides}, .padding = padding}),
       .inputs = {{{batch, height, width, channels}, dtype}, {{kernel_size, kernel_size, channels, filters}, dtype}}});
}

PlannedKernel::PlannedKernel(const Backend& backend, Device& device, const Op& op, std::vector<TensorType> inputs)
    : types_(std::move(inputs)) {
  const std::size_t count = types_.size();
  std::vector<TensorType> outputs = op.infer(types_);
  types_.insert(types_.end(), outputs.begin(), outputs.end());
  const TensorTypes all(types_);
  const Signature signature{all.first(count), all.subspan(count)};
  device.bind_to_thread();
  kernel_ = backend.plan(op, signature, device);
  stream_ = &device.stream();
  for (std::size_t i = 0; i < types_.size(); ++i) {
    (i < count ? inputs_ : outputs_).push_back(allocate(device, types_[i]));
  }
  workspace_ = device.memory().allocate(kernel_->workspace_bytes(), "kernel benchmark: workspace");
  flops_ = op.flops(signature.inputs, signature.outputs);
  bytes_ = op.bytes(signature.inputs, signature.outputs);
}

TensorView PlannedKernel::allocate(Device& device, const TensorType& type) {
  buffers_.push_back(device.memory().allocate(type.bytes(), "kernel benchmark: " + to_string(type)));
  if (device.emulation().empty()) {
    const HostTensor values = ordinary_numbers(type);
    stream_->copy(buffers_.back().data(), values.data(), values.bytes());
    stream_->synchronize();  // the source must live until here
  }
  return {&type, buffers_.back().data()};
}

}  // namespace gpubench
