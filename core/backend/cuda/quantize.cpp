// Both products are one of cuBLASLt's, a convolution by way of its windows laid out as rows: cuDNN takes int8 in blocks
// of channels only, which the first layer and the last rarely have. cuBLASLt multiplies int8 with its left factor
// transposed and its right one not, and wants lengths in multiples of four (cublasLtMatmul's documentation, "regular
// data ordering"); its faster kernels want sixteen. Packed weights lie so.
#include "core/backend/cuda/kernels/quantize.h"

#include <fmt/format.h>

#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/elementwise.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/backend/cuda/matmul_algorithms.h"
#include "core/backend/cuda/matmul_descriptors.h"
#include "core/backend/cuda/status.h"
#include "core/base/align.h"
#include "core/ops/quantize.h"
#include "core/ops/quantized_linear.h"

namespace gpubench::cuda {
namespace {

std::unique_ptr<Kernel> plan_quantize(const Quantize& op, const Signature& signature, Device& device) {
  return plan_elementwise(op, signature, device, &launch_quantize);
}

std::unique_ptr<Kernel> plan_fake_quantize(const FakeQuantize& op, const Signature& signature, Device& device) {
  return plan_elementwise(op, signature, device, &launch_fake_quantize);
}

std::unique_ptr<Kernel> plan_fake_quantize_gradient(const FakeQuantizeGradient& op, const Signature& signature,
                                                    Device& device) {
  return plan_elementwise(op, signature, device, &launch_fake_quantize_gradient);
}

std::int64_t padded(std::int64_t count) {
  constexpr std::int64_t step = 16;
  return (count + step - 1) / step * step;
}

/// The op as a product of matrices.
struct Rows {
  WindowRows windows;
  std::int64_t depth = 0, channels = 0;  ///< without zeros
  /// Whether x is those rows already.
  bool as_they_are = false;
};

Rows rows_of(const QuantizedMatmul&, const Shape& x, const Shape& weights) {
  Rows rows{
      .windows = {.batch = x[0], .channels = x[1], .depth = padded(x[1])}, .depth = weights[0], .channels = weights[1]};
  rows.as_they_are = rows.depth == rows.windows.depth;
  return rows;
}

Rows rows_of(const QuantizedConv2D& op, const Shape& x, const Shape& filter) {
  const auto axes = slide(op.name(), op.options.window(), x, filter);
  Rows rows{.windows = {.batch = x[0],
                        .height = x[1],
                        .width = x[2],
                        .channels = x[3],
                        .rows_high = axes[0].outputs,
                        .rows_wide = axes[1].outputs,
                        .window_high = filter[0],
                        .window_wide = filter[1],
                        .stride_high = op.options.strides[0],
                        .stride_wide = op.options.strides[1],
                        .dilation_high = op.options.dilations[0],
                        .dilation_wide = op.options.dilations[1],
                        .padding_top = axes[0].padding_before,
                        .padding_left = axes[1].padding_before,
                        .depth = padded(filter[0] * filter[1] * filter[2])},
            .depth = filter[0] * filter[1] * filter[2],
            .channels = filter[3]};
  const bool each_place = filter[0] * filter[1] == 1 && op.options.strides == Extents{1, 1};
  rows.as_they_are = each_place && rows.depth == rows.windows.depth;
  return rows;
}

std::optional<math::Function> function_of(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return math::Function::relu;
    case Activation::sigmoid:
      return math::Function::sigmoid;
    case Activation::tanh:
      return math::Function::tanh;
    case Activation::gelu:
      return math::Function::gelu;
    case Activation::gelu_tanh:
      return math::Function::gelu_tanh;
    case Activation::none:
      break;
  }
  return std::nullopt;
}

MatmulProblem problem_of(const Rows& rows, const MatmulRules& rules) {
  const std::int64_t channels = padded(rows.channels), depth = rows.windows.depth;
  return {.left = {depth, channels},
          .right = {depth, rows.windows.rows()},
          .result = {channels, rows.windows.rows()},
          .transpose_left = true,
          .dtype = Dtype::i8,
          .alignment = tensor_alignment,
          .workspace_limit = rules.workspace_limit};
}

class QuantizedProduct final : public Kernel {
 public:
  QuantizedProduct(const QuantizedEpilogue& options, const Rows& rows, const MatmulProblem& problem,
                   const MatmulAlgorithm& algorithm, CudaDevice& device)
      : options_(options),
        rows_(rows),
        descriptors_(problem),
        algorithm_(algorithm),
        handle_(device.cublaslt()),
        multiprocessors_(device.properties().multiprocessors),
        epilogue_{.rows = rows.windows.rows(),
                  .channels = rows.channels,
                  .leading = problem.result.rows,
                  .activation = function_of(options.activation)} {
    const auto book = [this](std::int64_t bytes) {
      constexpr std::size_t alignment = 256;
      const std::size_t at = bytes_;
      bytes_ += align_up(static_cast<std::size_t>(bytes), alignment);
      return at;
    };
    static_cast<void>(book(static_cast<std::int64_t>(algorithm.workspace_bytes)));
    sums_ = book(epilogue_.rows * epilogue_.leading * std::int64_t{sizeof(std::int32_t)});
    if (!rows.as_they_are) windows_ = book(epilogue_.rows * rows.windows.depth);
    if (options.packed.empty()) weights_ = book(epilogue_.leading * rows.windows.depth);
  }

  std::string_view implementation() const override { return algorithm_.name; }
  std::size_t workspace_bytes() const override { return bytes_; }

  void run(Stream& stream, Views inputs, Views outputs, std::span<std::byte> workspace) override {
    const LaunchOn on{handle_of(stream), multiprocessors_};
    const std::byte* x = inputs[0].data;
    if (!rows_.as_they_are) {
      std::byte* const to = workspace.data() + windows_;
      check(launch_window_rows(on, rows_.windows, to, x), "quantized product: rows");
      x = to;
    }
    const std::byte* weights = inputs[1].data;
    if (options_.packed.empty()) {
      std::byte* const to = workspace.data() + weights_;
      check(launch_transpose_weights(on, rows_.depth, rows_.channels, rows_.windows.depth, epilogue_.leading, to,
                                     weights),
            "quantized product: weights");
      weights = to;
    }
    std::byte* const sums = workspace.data() + sums_;
    multiply(handle_, descriptors_, algorithm_.algorithm,
             {.left = weights,
              .right = x,
              .result = sums,
              .workspace = workspace.first(algorithm_.workspace_bytes),
              .sum = nullptr},
             handle_of(stream));
    check(launch_sum_epilogue(on, epilogue_, outputs[0].data, sums, inputs[2].data,
                              options_.bias ? inputs[3].data : nullptr,
                              options_.requantize ? inputs.back().data : nullptr),
          "quantized product: epilogue");
  }

 private:
  QuantizedEpilogue options_;
  Rows rows_;
  MatmulDescriptors descriptors_;
  const MatmulAlgorithm& algorithm_;  // the device's, which outlives its kernels
  cublasLtHandle_t handle_;
  int multiprocessors_;
  SumEpilogue epilogue_;
  // The workspace: what the library wants first, then the sums, and the factors where they are laid out anew.
  std::size_t bytes_ = 0, sums_ = 0, windows_ = 0, weights_ = 0;
};

template <class O>
std::unique_ptr<Kernel> plan_quantized(const O& op, const Signature& signature, Device& device) {
  const TensorType weights = weights_type(op.options, signature.inputs);
  const Rows rows = rows_of(op, signature.inputs[0].shape, weights.shape);
  if (signature.outputs[0].elements() == 0) {
    return launch_kernel(op, device, [](const LaunchOn&, Views, Views) { return cudaSuccess; });
  }
  if (rows.depth == 0) refuse(op, "sums of no products are not supported");
  CudaDevice& gpu = cuda_device(device);
  const MatmulProblem problem = problem_of(rows, matmul_rules(false));
  const MatmulAlgorithm* const algorithm = algorithm_for(gpu, problem);
  if (algorithm == nullptr) {
    refuse(op, fmt::format("cuBLASLt has no algorithm for {} times {}; int8 takes a "
                           "GPU of compute capability 7.5 or later",
                           to_string(signature.inputs[0]), to_string(weights)));
  }
  return std::make_unique<QuantizedProduct>(op.options, rows, problem, *algorithm, gpu);
}

std::unique_ptr<Kernel> plan_quantized_matmul(const QuantizedMatmul& op, const Signature& signature, Device& device) {
  return plan_quantized(op, signature, device);
}

std::unique_ptr<Kernel> plan_quantized_conv2d(const QuantizedConv2D& op, const Signature& signature, Device& device) {
  return plan_quantized(op, signature, device);
}

std::unique_ptr<Kernel> plan_pack_weights(const PackWeights& op, const Signature& signature, Device& device) {
  const TensorType& weights = signature.inputs[0];
  const std::int64_t channels = weights.shape.back(), depth = channels == 0 ? 0 : weights.elements() / channels;
  return launch_kernel(op, device, [depth, channels](const LaunchOn& on, Views inputs, Views outputs) {
    return launch_transpose_weights(on, depth, channels, padded(depth), padded(channels), outputs[0].data,
                                    inputs[0].data);
  });
}

}  // namespace

void add_quantize(KernelTable& table) {
  add_row<&plan_quantize>(table);
  add_row<&plan_fake_quantize>(table);
  add_row<&plan_fake_quantize_gradient>(table);
  add_row<&plan_quantized_matmul>(table);
  add_row<&plan_quantized_conv2d>(table);
  add_row<&plan_pack_weights>(table);
}

}  // namespace gpubench::cuda
