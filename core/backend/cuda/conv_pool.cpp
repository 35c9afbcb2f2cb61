// The convolution and the pool one after the other, with what lies between them in the workspace: cuDNN has no engine
// for both, and a GPU has no cache that would hold it. In 16 bits the pool compares what was rounded to 16 bits.
#include "core/backend/cuda/conv_pool.h"

#include <algorithm>
#include <array>

#include "core/backend/cuda/conv.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/backend/cuda/pool.h"

namespace gpubench::cuda {
namespace {

constexpr std::size_t between_alignment = 256;

/// Two kernels and the tensor between them, which takes the first part of the workspace.
class Pair {
 public:
  Pair(std::unique_ptr<Kernel> before, std::unique_ptr<Kernel> behind, TensorType type)
      : first(std::move(before)),
        second(std::move(behind)),
        between_(std::move(type)),
        between_bytes_((between_.bytes() + between_alignment - 1) / between_alignment * between_alignment) {}

  std::size_t workspace_bytes() const {
    return between_bytes_ + std::max(first->workspace_bytes(), second->workspace_bytes());
  }
  TensorView between(std::span<std::byte> workspace) const { return {&between_, workspace.data()}; }
  std::span<std::byte> rest(std::span<std::byte> workspace) const { return workspace.subspan(between_bytes_); }

  std::unique_ptr<Kernel> first, second;

 private:
  TensorType between_;
  std::size_t between_bytes_;
};

class ConvMaxPool final : public Kernel {
 public:
  explicit ConvMaxPool(Pair pair) : pair_(std::move(pair)) {}
  std::string_view implementation() const override { return pair_.first->implementation(); }
  std::size_t workspace_bytes() const override { return pair_.workspace_bytes(); }
  void run(Stream& stream, Views inputs, Views outputs, std::span<std::byte> workspace) override {
    const std::array convolved{pair_.between(workspace)};
    pair_.first->run(stream, inputs, convolved, pair_.rest(workspace));
    pair_.second->run(stream, convolved, outputs, pair_.rest(workspace));
  }

 private:
  Pair pair_;
};

class ConvMaxPoolFilterGradient final : public Kernel {
 public:
  explicit ConvMaxPoolFilterGradient(Pair pair) : pair_(std::move(pair)) {}
  std::string_view implementation() const override { return pair_.second->implementation(); }
  std::size_t workspace_bytes() const override { return pair_.workspace_bytes(); }
  void run(Stream& stream, Views inputs, Views outputs, std::span<std::byte> workspace) override {
    const std::array spread{pair_.between(workspace)};
    pair_.first->run(stream, inputs.subspan(1), spread, pair_.rest(workspace));
    pair_.second->run(stream, std::array{inputs[0], spread[0]}, outputs, pair_.rest(workspace));
  }

 private:
  Pair pair_;
};

}  // namespace

std::unique_ptr<Kernel> plan_conv2d_max_pool(const Conv2DMaxPool& op, const Signature& signature, Device& device) {
  const std::array between{op.convolved(signature.inputs)};
  return std::make_unique<ConvMaxPool>(
      Pair(plan_conv2d(Conv2D(op.conv), Signature{signature.inputs, between}, device),
           plan_max_pool2d(MaxPool2D(op.pool), Signature{between, signature.outputs}, device), between[0]));
}

std::unique_ptr<Kernel> plan_conv2d_max_pool_filter_gradient(const Conv2DMaxPoolFilterGradient& op,
                                                             const Signature& signature, Device& device) {
  const std::array between{op.spread(signature.inputs[0])};
  const std::array conv_inputs{signature.inputs[0], between[0]};
  return std::make_unique<ConvMaxPoolFilterGradient>(
      Pair(plan_max_pool2d_gradient(MaxPool2DGradient(op.pool, between[0].shape),
                                    Signature{signature.inputs.subspan(1), between}, device),
           plan_conv2d_filter_gradient(Conv2DFilterGradient(op.conv, op.filter_shape),
                                       Signature{conv_inputs, signature.outputs}, device),
           between[0]));
}

}  // namespace gpubench::cuda
