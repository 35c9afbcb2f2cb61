#include "core/ops/attention.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/kernels/attention.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/backend/cuda/status.h"

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

std::unique_ptr<Kernel> plan_attention(const Attention& op, const Signature& signature, Device& device) {
  const AttentionShape shape = attention_shape(op, op.options, signature);
  return launch_kernel(op, device, [shape, options = op.options](const LaunchOn& on, Views inputs, Views outputs) {
    const AttentionForward memory{.q = inputs[0].data,
                                  .k = inputs[1].data,
                                  .v = inputs[2].data,
                                  .mask = mask_in(options, inputs),
                                  .step = step_in(options, inputs),
                                  .out = outputs[0].data,
                                  .sums = outputs[1].as<float>()};
    return launch_attention(on, shape, memory);
  });
}

std::unique_ptr<Kernel> plan_attention_gradient(const AttentionGradient& op, const Signature& signature,
                                                Device& device) {
  const AttentionShape shape = attention_shape(op, op.options, signature);
  const std::size_t at = op.outputs_at();
  const auto dots = static_cast<std::size_t>(shape.batch * shape.heads * shape.queries) * sizeof(float);
  return launch_kernel(
      op, device,
      [shape, at, options = op.options, of_sums = op.of_sums](const LaunchOn& on, Views inputs, Views outputs,
                                                              std::span<std::byte> workspace) {
        const AttentionBackward memory{.q = inputs[0].data,
                                       .k = inputs[1].data,
                                       .v = inputs[2].data,
                                       .mask = mask_in(options, inputs),
                                       .step = step_in(options, inputs),
                                       .out = inputs[at].data,
                                       .sums = inputs[at + 1].as<float>(),
                                       .dout = inputs[at + 2].data,
                                       .dsums = of_sums ? inputs[at + 3].as<float>() : nullptr,
                                       .dq = outputs[0].data,
                                       .dk = outputs[1].data,
                                       .dv = outputs[2].data};
        return launch_attention_gradient(on, shape, memory, reinterpret_cast<float*>(workspace.data()));
      },
      dots);
}

}  // namespace

void add_attention(KernelTable& table) {
  add_row<&plan_attention>(table);
  add_row<&plan_attention_gradient>(table);
}

}  // namespace gpubench::cuda
