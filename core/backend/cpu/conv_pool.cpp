#include "core/backend/cpu/conv_pool.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/backend/cpu/conv.h"
#include "core/backend/cpu/grey_conv.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/pool.h"

namespace gpubench::cpu {
namespace {

constexpr std::size_t alignment = 64;

/// Two kernels with a tensor in the workspace between them: `first` makes it, `second` reads it.
class TwoKernels final : public Kernel {
 public:
  TwoKernels(std::unique_ptr<Kernel> first, std::unique_ptr<Kernel> second, TensorType between, bool pool_is_first)
      : first_(std::move(first)),
        second_(std::move(second)),
        between_(std::move(between)),
        pool_is_first_(pool_is_first),
        between_bytes_((between_.bytes() + alignment - 1) / alignment * alignment) {}

  std::string_view implementation() const override {
    return pool_is_first_ ? second_->implementation() : first_->implementation();
  }
  std::size_t workspace_bytes() const override {
    return between_bytes_ + std::max(first_->workspace_bytes(), second_->workspace_bytes());
  }
  void run(Stream& stream, Views inputs, Views outputs, std::span<std::byte> workspace) override {
    const std::array between{TensorView{&between_, workspace.data()}};
    const std::span<std::byte> rest = workspace.subspan(between_bytes_);
    if (pool_is_first_) {  // x, dy, winners -> spread; x, spread -> dfilter
      first_->run(stream, inputs.subspan(1), between, rest);
      second_->run(stream, std::array{inputs[0], between[0]}, outputs, rest);
    } else {
      first_->run(stream, inputs, between, rest);
      second_->run(stream, between, outputs, rest);
    }
  }

 private:
  std::unique_ptr<Kernel> first_, second_;
  TensorType between_;
  bool pool_is_first_;
  std::size_t between_bytes_;
};

}  // namespace

std::unique_ptr<Kernel> plan_conv2d_max_pool(const Conv2DMaxPool& op, const Signature& signature, Device& device) {
  if (grey_conv_applies(op.conv, signature.inputs[0], signature.inputs[1].shape)) {
    return plan_grey_conv2d_max_pool(op, signature, device);
  }
  const std::array between{op.convolved(signature.inputs)};
  return std::make_unique<TwoKernels>(
      plan_conv2d(Conv2D(op.conv), Signature{signature.inputs, between}, device),
      plan_max_pool2d(MaxPool2D(op.pool), Signature{between, signature.outputs}, device), between[0], false);
}

std::unique_ptr<Kernel> plan_conv2d_max_pool_filter_gradient(const Conv2DMaxPoolFilterGradient& op,
                                                             const Signature& signature, Device& device) {
  if (grey_conv_applies(op.conv, signature.inputs[0], op.filter_shape)) {
    return plan_grey_conv2d_max_pool_filter_gradient(op, signature, device);
  }
  const std::array between{op.spread(signature.inputs[0])};
  const std::array conv_inputs{signature.inputs[0], between[0]};
  return std::make_unique<TwoKernels>(plan_max_pool2d_gradient(MaxPool2DGradient(op.pool, between[0].shape),
                                                               Signature{signature.inputs.subspan(1), between}, device),
                                      plan_conv2d_filter_gradient(Conv2DFilterGradient(op.conv, op.filter_shape),
                                                                  Signature{conv_inputs, signature.outputs}, device),
                                      between[0], true);
}

}  // namespace gpubench::cpu
