// cuDNN's channels-last engines need another layout of filters than the ops: a pass turns filters once a step for all
// that read them (core/passes/turn_filters.cpp); runs of other ops transpose theirs in the workspace. A convolution
// with a max pool is one kernel of our own for images with few channels; else two, with the intermediate tensor in the
// workspace, because cuDNN has no fused engine and no GPU cache could hold that tensor. In 16 bits, the pool compares
// values rounded to 16 bits.
#include "core/ops/conv.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <functional>

#include "core/backend/cuda/cuda_device.h"
#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/cuda_stream.h"
#include "core/backend/cuda/device_choices.h"
#include "core/backend/cuda/elementwise.h"
#include "core/backend/cuda/few_channel_conv.h"
#include "core/backend/cuda/kernels/strided_copy.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/backend/cuda/status.h"
#include "core/base/align.h"
#include "core/base/units.h"
#include "core/math/functions.h"

namespace gpubench::cuda {
namespace {

constexpr std::size_t workspace_alignment = 256;

/// Our own kernel's in-place operation on the result.
using Behind = std::function<cudaError_t(const LaunchOn&, void* result, const void* bias)>;

ElementwiseLaunch launch_of(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return elementwise_launch<math::Relu>();
    case Activation::sigmoid:
      return elementwise_launch<math::Sigmoid>();
    case Activation::tanh:
      return elementwise_launch<math::Tanh>();
    case Activation::gelu_tanh:
      return elementwise_launch<math::GeluTanh>();
    default:
      return elementwise_launch<math::Gelu>();
  }
}

Behind activation_behind(const Op& op, const TensorType& result, Activation activation) {
  const std::array types{result};
  return [access = elementwise_access(op, {types, types}), launch = launch_of(activation)](const LaunchOn& on, void* y,
                                                                                           const void*) {
    const std::array<const void*, 1> in{y};
    return launch(on, access, y, in.data());
  };
}

Behind bias_behind(const Op& op, const TensorType& result, const TensorType& bias) {
  const std::array inputs{result, bias};
  const std::array outputs{result};
  return [access = elementwise_access(op, {inputs, outputs}), launch = elementwise_launch<math::Add>()](
             const LaunchOn& on, void* y, const void* b) {
    const std::array<const void*, 2> in{y, b};
    return launch(on, access, y, in.data());
  };
}

/// cuDNN's plan, as profiles name it. Engines of float32 without TF32 may turn image and result into another layout in
/// their workspace, which can take longer than the arithmetic: a workspace that could hold both is named.
std::string plan_name(const ConvolutionProblem& problem, const CudnnPlan& plan) {
  std::string name =
      fmt::format("cudnn:conv{}{}:{}", problem.bias ? "+bias" : "", problem.relu ? "+relu" : "", plan.name());
  constexpr std::size_t tables = std::size_t{1} << 20;  // engines keep small ones there
  const std::int64_t elements = element_count(problem.image) + element_count(problem.result);
  const std::size_t tensors = static_cast<std::size_t>(elements) * size_of(problem.dtype);
  if (plan.workspace_bytes() < std::max(tables, tensors)) return name;
  return name + fmt::format(" with {} of workspace", format_bytes(static_cast<double>(plan.workspace_bytes())));
}

class ConvolutionKernel final : public Kernel {
 public:
  /// `turned`: the op's filter has the layout of the engines.
  ConvolutionKernel(const Op& op, const ConvolutionProblem& problem, std::shared_ptr<const CudnnPlan> plan, bool turned,
                    Device& device)
      : op_(op.name()),
        name_(plan_name(problem, *plan)),
        problem_(problem),
        plan_(std::move(plan)),
        multiprocessors_(cuda_device(device).properties().multiprocessors) {
    if (turned || !problem.transposes_filter()) return;
    const auto bytes = static_cast<std::size_t>(problem.filter_rows() * problem.filter[0]) * element_bytes();
    filter_bytes_ = align_up(bytes, workspace_alignment);
  }

  void add(Behind behind, std::string_view name) {
    behind_.push_back(std::move(behind));
    name_ += fmt::format(", kernel:{}", name);
  }

  std::string_view implementation() const override { return name_; }
  std::size_t workspace_bytes() const override { return filter_bytes_ + plan_.plan().workspace_bytes(); }

  void run(Stream& stream, std::span<const TensorView> inputs, std::span<const TensorView> outputs,
           std::span<std::byte> workspace) override {
    const LaunchOn on{handle_of(stream), multiprocessors_};
    const bool makes_filter = problem_.kind == ConvolutionKind::filter_gradient;
    Memory memory = memory_of(inputs, outputs);
    void* const filter = memory.filter;
    if (filter_bytes_ > 0) {
      memory.filter = workspace.data();
      if (!makes_filter) transpose(on, problem_.filter_rows(), problem_.filter[0], memory.filter, filter);
    }
    const std::array all{memory.image, memory.filter, memory.result, memory.bias};
    const std::size_t count = problem_.bias ? 4 : 3;
    plan_.run(on.stream, std::span(all).first(count), workspace.data() + filter_bytes_);
    if (filter_bytes_ > 0 && makes_filter) {
      transpose(on, problem_.filter[0], problem_.filter_rows(), filter, memory.filter);
    }
    for (const Behind& behind : behind_) check(behind(on, memory.result, memory.bias), op_);
  }

 private:
  struct Memory {
    void *image, *filter, *result, *bias;
  };

  Memory memory_of(std::span<const TensorView> inputs, std::span<const TensorView> outputs) const {
    switch (problem_.kind) {
      case ConvolutionKind::input_gradient:
        return {outputs[0].data, inputs[1].data, inputs[0].data, nullptr};
      case ConvolutionKind::filter_gradient:
        return {inputs[0].data, outputs[0].data, inputs[1].data, nullptr};
      default:
        return {inputs[0].data, inputs[1].data, outputs[0].data, inputs.size() > 2 ? inputs[2].data : nullptr};
    }
  }
  std::size_t element_bytes() const { return problem_.dtype == Dtype::f32 ? 4 : 2; }
  void transpose(const LaunchOn& on, std::int64_t rows, std::int64_t columns, void* to, const void* from) const {
    check(launch_transpose(on, rows, columns, element_bytes(), to, from), op_);
  }

  std::string op_, name_;
  ConvolutionProblem problem_;
  CudnnRun plan_;
  int multiprocessors_;
  std::size_t filter_bytes_ = 0;
  std::vector<Behind> behind_;
};

[[noreturn]] void refuse_engines(const Op& op, std::string_view why_not) {
  refuse(op, fmt::format("cuDNN has no engine that is deterministic and exact enough: {}", why_not));
}

/// cuDNN's engine, which is the same whatever our own kernels do with its result.
const EngineChoice& engine_for(ConvolutionProblem problem, Device& device) {
  problem.activation_behind = Activation::none;
  CudaDevice& gpu = cuda_device(device);
  return gpu.choices().convolutions.find(problem, [&] { return choose_engine(gpu, problem); });
}

std::unique_ptr<Kernel> plan_conv_gradient(const Op& op, const ConvolutionProblem& problem, bool turned,
                                           Device& device) {
  const auto& [plan, why_not] = engine_for(problem, device);
  if (plan == nullptr) refuse_engines(op, why_not);
  return std::make_unique<ConvolutionKernel>(op, problem, plan, turned, device);
}

std::unique_ptr<Kernel> plan_conv2d(const Conv2D& op, const Signature& signature, Device& device) {
  const TensorType &x = signature.inputs[0], &y = signature.outputs[0];
  ConvolutionProblem problem =
      convolution_problem(op, ConvolutionKind::forward, op.options, x.dtype, x.shape, signature.inputs[1].shape);
  const bool adds_bias = problem.bias && engine_for(problem, device).plan == nullptr;
  if (adds_bias) problem = without_epilogue(problem);
  const auto& [plan, why_not] = engine_for(problem, device);
  if (plan == nullptr) refuse_engines(op, why_not);
  auto kernel = std::make_unique<ConvolutionKernel>(op, problem, plan, op.options.turned, device);
  if (adds_bias) kernel->add(bias_behind(op, y, signature.inputs[2]), "bias");
  if (problem.activation_behind != Activation::none) {
    kernel->add(activation_behind(op, y, problem.activation_behind), to_string(problem.activation_behind));
  }
  return kernel;
}

std::unique_ptr<Kernel> plan_conv2d_input_gradient(const Conv2DInputGradient& op, const Signature& signature,
                                                   Device& device) {
  const TensorType &filter = signature.inputs[1], &dx = signature.outputs[0];
  return plan_conv_gradient(
      op, convolution_problem(op, ConvolutionKind::input_gradient, op.options, dx.dtype, dx.shape, filter.shape),
      op.options.turned, device);
}

std::unique_ptr<Kernel> plan_conv2d_filter_gradient(const Conv2DFilterGradient& op, const Signature& signature,
                                                    Device& device) {
  if (auto own = few_channel_filter_gradient(op, signature, device)) return own;
  const TensorType &x = signature.inputs[0], &dfilter = signature.outputs[0];
  return plan_conv_gradient(
      op, convolution_problem(op, ConvolutionKind::filter_gradient, op.options, x.dtype, x.shape, dfilter.shape), false,
      device);
}

/// Two kernels and the tensor between them, which takes the first part of the workspace.
class PooledPair {
 public:
  PooledPair(std::unique_ptr<Kernel> before, std::unique_ptr<Kernel> behind, TensorType type)
      : first(std::move(before)),
        second(std::move(behind)),
        between_(std::move(type)),
        between_bytes_(align_up(between_.bytes(), workspace_alignment)) {}

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
  explicit ConvMaxPool(PooledPair pair) : pair_(std::move(pair)) {}
  std::string_view implementation() const override { return pair_.first->implementation(); }
  std::size_t workspace_bytes() const override { return pair_.workspace_bytes(); }
  void run(Stream& stream, Views inputs, Views outputs, std::span<std::byte> workspace) override {
    const std::array convolved{pair_.between(workspace)};
    pair_.first->run(stream, inputs, convolved, pair_.rest(workspace));
    pair_.second->run(stream, convolved, outputs, pair_.rest(workspace));
  }

 private:
  PooledPair pair_;
};

class ConvMaxPoolFilterGradient final : public Kernel {
 public:
  explicit ConvMaxPoolFilterGradient(PooledPair pair) : pair_(std::move(pair)) {}
  std::string_view implementation() const override { return pair_.second->implementation(); }
  std::size_t workspace_bytes() const override { return pair_.workspace_bytes(); }
  void run(Stream& stream, Views inputs, Views outputs, std::span<std::byte> workspace) override {
    const std::array spread{pair_.between(workspace)};
    pair_.first->run(stream, inputs.subspan(1), spread, pair_.rest(workspace));
    pair_.second->run(stream, std::array{inputs[0], spread[0]}, outputs, pair_.rest(workspace));
  }

 private:
  PooledPair pair_;
};

std::unique_ptr<Kernel> plan_conv2d_max_pool(const Conv2DMaxPool& op, const Signature& signature, Device& device) {
  if (auto own = few_channel_max_pool(op, signature, device)) return own;
  const std::array between{op.convolved(signature.inputs)};
  return std::make_unique<ConvMaxPool>(
      PooledPair(plan_conv2d(Conv2D(op.conv), Signature{signature.inputs, between}, device),
                 plan_kernel(MaxPool2D(op.pool), Signature{between, signature.outputs}, device), between[0]));
}

std::unique_ptr<Kernel> plan_conv2d_max_pool_filter_gradient(const Conv2DMaxPoolFilterGradient& op,
                                                             const Signature& signature, Device& device) {
  if (auto own = few_channel_filter_gradient(op, signature, device)) return own;
  const std::array between{op.spread(signature.inputs[0])};
  const std::array conv_inputs{signature.inputs[0], between[0]};
  return std::make_unique<ConvMaxPoolFilterGradient>(
      PooledPair(plan_kernel(MaxPool2DGradient(op.pool, between[0].shape),
                             Signature{signature.inputs.subspan(1), between}, device),
                 plan_conv2d_filter_gradient(Conv2DFilterGradient(op.conv, op.filter_shape),
                                             Signature{conv_inputs, signature.outputs}, device),
                 between[0]));
}

/// Whether an op with a turned filter saves a transpose.
bool gains(const Op& op, ConvolutionKind kind, const Conv2DAttributes& options, const TensorType& image,
           const TensorType& filter) {
  if (!options.turned || !is_floating(image.dtype) || image.elements() == 0 || filter.elements() == 0) return false;
  return convolution_problem(op, kind, options, image.dtype, image.shape, filter.shape).transposes_filter();
}

}  // namespace

bool reads_turned_filter(const Op& op, const Signature& signature) {
  const TensorTypes in = signature.inputs;
  if (const auto* const conv = dynamic_cast<const Conv2D*>(&op)) {
    return gains(op, ConvolutionKind::forward, conv->options, in[0], in[1]);
  }
  if (const auto* const gradient = dynamic_cast<const Conv2DInputGradient*>(&op)) {
    return gains(op, ConvolutionKind::input_gradient, gradient->options, signature.outputs[0], in[1]);
  }
  const auto* const pooled = dynamic_cast<const Conv2DMaxPool*>(&op);
  return pooled != nullptr && !is_few_channel_max_pool(*pooled, in) &&
         gains(op, ConvolutionKind::forward, pooled->conv, in[0], in[1]);
}

void add_conv(KernelTable& table) {
  add_row<&plan_conv2d>(table);
  add_row<&plan_conv2d_input_gradient>(table);
  add_row<&plan_conv2d_filter_gradient>(table);
  add_row<&plan_conv2d_max_pool>(table);
  add_row<&plan_conv2d_max_pool_filter_gradient>(table);
}

}  // namespace gpubench::cuda
