// 16-bit attention without mask and dropout takes cuDNN's fused engines where cuDNN has one; all else, and GPUs without
// such an engine, our own kernels.
#include "core/ops/attention.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/device_choices.h"
#include "core/backend/cuda/kernels/attention.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/backend/cuda/status.h"
#include "core/base/align.h"

namespace gpubench::cuda {
namespace {

AttentionShape attention_shape(const Op& op, const AttentionOptions& options, const Signature& signature) {
  require_floating(op, signature.inputs[0]);
  const AttentionExtents extents(signature.inputs[0], signature.inputs[1], signature.inputs[2]);
  const std::int64_t widest = std::max(extents.dim, extents.value_dim);
  if (widest > most_attention_dim) {
    refuse(op, fmt::format("a head of {} numbers; at most {} are possible", widest, most_attention_dim));
  }
  AttentionShape shape{.batch = extents.batch,
                       .queries = extents.queries,
                       .keys = extents.keys,
                       .heads = extents.heads,
                       .groups = extents.groups,
                       .dim = extents.dim,
                       .value_dim = extents.value_dim,
                       .scale = static_cast<float>(options.scale),
                       .causal = options.causal,
                       .dtype = signature.inputs[0].dtype,
                       .drop_below = static_cast<std::uint32_t>(options.dropout * 0x1p32),
                       .keep_scale = static_cast<float>(1 / (1 - options.dropout)),
                       .seed = options.seed,
                       .first_example = options.first,
                       .random_row = extents.random_row()};
  if (options.mask) {
    shape.mask_dtype = signature.inputs[3].dtype;
    std::ranges::copy(mask_strides(signature.inputs[3]), shape.mask_strides);
  }
  return shape;
}

const void* mask_in(const AttentionOptions& options, Views inputs) {
  return options.mask ? inputs[3].data : nullptr;
}

const std::int64_t* step_in(const AttentionOptions& options, Views inputs) {
  return options.dropout > 0 ? inputs[options.mask ? 4 : 3].as<std::int64_t>() : nullptr;
}

/// Of a float for each query of each head: as the gradient has for scratch.
std::size_t query_bytes(const AttentionShape& shape) {
  return static_cast<std::size_t>(shape.batch * shape.heads * shape.queries) * sizeof(float);
}

class CudnnAttention final : public Kernel {
 public:
  CudnnAttention(std::shared_ptr<const CudnnPlan> plan, bool gradient, std::size_t query_bytes)
      : name_("cudnn:attention:" + plan->name()),
        plan_(std::move(plan)),
        gradient_(gradient),
        query_bytes_(query_bytes),
        scratch_bytes_(gradient ? align_up(query_bytes, std::size_t{256}) : 0) {}

  std::string_view implementation() const override { return name_; }
  std::size_t workspace_bytes() const override { return scratch_bytes_ + plan_.plan().workspace_bytes(); }
  void run(Stream& stream, Views inputs, Views outputs, std::span<std::byte> workspace) override {
    std::array<void*, 10> memory{};
    std::size_t count = 0;
    for (const TensorView& input : inputs) memory[count++] = input.data;
    if (gradient_) {
      memory[count++] = workspace.data();  // the tensor between inputs and outputs of its graph
    } else {
      // cuDNN writes one number for each log of a sum; what it rounds is lost.
      check(cudaMemsetAsync(outputs[1].data + query_bytes_, 0, query_bytes_, handle_of(stream)), "cudaMemsetAsync");
    }
    for (const TensorView& output : outputs) memory[count++] = output.data;
    plan_.run(handle_of(stream), std::span(memory).first(count), workspace.data() + scratch_bytes_);
  }

 private:
  std::string name_;
  CudnnRun plan_;
  bool gradient_;
  std::size_t query_bytes_, scratch_bytes_;
};

/// Our own kernel, with the reason why cuDNN does not compute the op in its name: profiles show it.
class OwnAttention final : public Kernel {
 public:
  /// `why_not`: a literal.
  OwnAttention(std::unique_ptr<Kernel> kernel, std::string_view why_not)
      : name_(fmt::format("kernel (not cudnn: {})", why_not)), why_not_(why_not), kernel_(std::move(kernel)) {}

  std::string_view implementation() const override { return name_; }
  std::string_view why_not_library() const override { return why_not_; }
  std::size_t workspace_bytes() const override { return kernel_->workspace_bytes(); }
  void run(Stream& stream, Views inputs, Views outputs, std::span<std::byte> workspace) override {
    kernel_->run(stream, inputs, outputs, workspace);
  }

 private:
  std::string name_;
  std::string_view why_not_;
  std::unique_ptr<Kernel> kernel_;
};

/// cuDNN's kernel, or why our own computes the op.
struct CudnnOrNot {
  std::unique_ptr<Kernel> kernel{};
  std::string_view why_not{};
};

/// cuDNN's engines have neither the op's masks nor its random numbers.
CudnnOrNot plan_cudnn(const AttentionShape& shape, const AttentionOptions& options, bool gradient, Device& device) {
  constexpr int blackwell = 10;  // whose engines of gradients do not say whether they sum in a fixed order
  if (shape.dtype == Dtype::f32) return {.why_not = "float32"};
  if (options.mask) return {.why_not = "mask"};
  if (options.dropout > 0) return {.why_not = "dropout"};
  if (gradient && cuda_device(device).properties().major >= blackwell) return {.why_not = "order of sums"};
  const AttentionProblem problem{.gradient = gradient,
                                 .dtype = shape.dtype,
                                 .batch = shape.batch,
                                 .queries = shape.queries,
                                 .keys = shape.keys,
                                 .heads = shape.heads,
                                 .groups = shape.groups,
                                 .dim = shape.dim,
                                 .value_dim = shape.value_dim,
                                 .scale = shape.scale,
                                 .causal = shape.causal};
  CudaDevice& gpu = cuda_device(device);
  const EngineChoice& choice = gpu.choices().attentions.find(problem, [&] { return choose_engine(gpu, problem); });
  if (choice.plan == nullptr) return {.why_not = "no engine"};
  return {.kernel = std::make_unique<CudnnAttention>(choice.plan, gradient, query_bytes(shape))};
}

std::unique_ptr<Kernel> plan_attention(const Attention& op, const Signature& signature, Device& device) {
  const AttentionShape shape = attention_shape(op, op.options, signature);
  CudnnOrNot cudnn = plan_cudnn(shape, op.options, false, device);
  if (cudnn.kernel != nullptr) return std::move(cudnn.kernel);
  auto own = launch_kernel(op, device, [shape, options = op.options](const LaunchOn& on, Views inputs, Views outputs) {
    const AttentionForward memory{.q = inputs[0].data,
                                  .k = inputs[1].data,
                                  .v = inputs[2].data,
                                  .mask = mask_in(options, inputs),
                                  .step = step_in(options, inputs),
                                  .out = outputs[0].data,
                                  .log_sums = outputs[1].as<float>()};
    return launch_attention(on, shape, memory);
  });
  return std::make_unique<OwnAttention>(std::move(own), cudnn.why_not);
}

std::unique_ptr<Kernel> plan_attention_gradient(const AttentionGradient& op, const Signature& signature,
                                                Device& device) {
  const AttentionShape shape = attention_shape(op, op.options, signature);
  CudnnOrNot cudnn = plan_cudnn(shape, op.options, true, device);
  if (cudnn.kernel != nullptr) return std::move(cudnn.kernel);
  const std::size_t at = op.outputs_at();
  auto own = launch_kernel(
      op, device,
      [shape, at, options = op.options](const LaunchOn& on, Views inputs, Views outputs,
                                        std::span<std::byte> workspace) {
        const AttentionBackward memory{.q = inputs[0].data,
                                       .k = inputs[1].data,
                                       .v = inputs[2].data,
                                       .mask = mask_in(options, inputs),
                                       .step = step_in(options, inputs),
                                       .out = inputs[at].data,
                                       .log_sums = inputs[at + 1].as<float>(),
                                       .dout = inputs[at + 2].data,
                                       .dq = outputs[0].data,
                                       .dk = outputs[1].data,
                                       .dv = outputs[2].data};
        return launch_attention_gradient(on, shape, memory, reinterpret_cast<float*>(workspace.data()));
      },
      query_bytes(shape));
  return std::make_unique<OwnAttention>(std::move(own), cudnn.why_not);
}

}  // namespace

void add_attention(KernelTable& table) {
  add_row<&plan_attention>(table);
  add_row<&plan_attention_gradient>(table);
}

}  // namespace gpubench::cuda
