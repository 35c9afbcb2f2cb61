#include "core/experiment/planned_kernel.h"

#include <cstring>
#include <random>

#include "core/tensor/host_tensor.h"

namespace gpubench {
namespace {

/// Bits of numbers in [0.5, 1) with either sign: in every floating format, the exponent of 0.5 and a random mantissa.
template <class Bits>
void fill_bits(const HostTensor& tensor, Bits half, Bits mantissa) {
  std::minstd_rand random(1);
  auto* const bits = reinterpret_cast<Bits*>(tensor.data());
  constexpr auto sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const auto drawn = static_cast<Bits>(random());
    bits[i] = static_cast<Bits>(half | (drawn & mantissa) | ((random() & 1U) != 0 ? sign : Bits{0}));
  }
}

HostTensor ordinary_numbers(const TensorType& type) {
  HostTensor tensor = HostTensor::zeros(type);
  if (type.dtype == Dtype::f32) fill_bits<std::uint32_t>(tensor, 0x3F000000U, 0x007FFFFFU);
  if (type.dtype == Dtype::bf16) fill_bits<std::uint16_t>(tensor, 0x3F00U, 0x007FU);
  if (type.dtype == Dtype::f16) fill_bits<std::uint16_t>(tensor, 0x3800U, 0x03FFU);
  return tensor;
}

}  // namespace

PlannedKernel::PlannedKernel(const Backend& backend, Device& device, const Op& op, std::vector<TensorType> inputs)
    : types_(std::move(inputs)) {
  const std::size_t count = types_.size();
  std::vector<TensorType> outputs = op.infer(types_);
  types_.insert(types_.end(), outputs.begin(), outputs.end());
  const std::span<const TensorType> all(types_);
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
  const HostTensor values = ordinary_numbers(type);
  buffers_.push_back(device.memory().allocate(type.bytes(), "kernel benchmark: " + to_string(type)));
  stream_->copy(buffers_.back().data(), values.data(), values.bytes());
  stream_->synchronize();  // the source ends here
  return {&type, buffers_.back().data()};
}

}  // namespace gpubench
