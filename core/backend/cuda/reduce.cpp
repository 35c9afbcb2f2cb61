#include "core/backend/cuda/kernels/reduce.h"

#include <fmt/format.h>

#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/backend/cuda/reduce_plan.h"
#include "core/backend/cuda/status.h"
#include "core/backend/reduce_passes.h"
#include "core/base/align.h"
#include "core/ops/bias.h"
#include "core/ops/reduce.h"

namespace gpubench::cuda {
namespace {

/// Launches the steps one behind the other; results of all but the last lie in the workspace.
class ReduceLaunches {
 public:
  ReduceLaunches(Reduction reduction, std::vector<ReduceStep> steps, const Signature& signature, double scale)
      : reduction_(reduction), steps_(std::move(steps)), scale_(static_cast<float>(scale)) {
    ends_.in_type = signature.inputs[0].dtype;
    ends_.out_type = signature.outputs[0].dtype;
  }

  std::size_t workspace_bytes() const {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i + 1 < steps_.size(); ++i) bytes += bytes_after(steps_[i]);
    return bytes;
  }

  cudaError_t operator()(const LaunchOn& on, Views inputs, Views outputs, std::span<std::byte> workspace) const {
    ReduceEnds ends = ends_;
    ends.in = inputs[0].data;
    std::byte* between = workspace.data();
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      ends.first = i == 0;
      ends.last = i + 1 == steps_.size();
      ends.out = ends.last ? outputs[0].data : between;
      ends.scale = ends.last ? scale_ : 1.0F;
      if (const cudaError_t status = launch_reduce(on, reduction_, steps_[i], ends); status != cudaSuccess)
        return status;
      ends.in = ends.out;
      between += bytes_after(steps_[i]);
    }
    return cudaSuccess;
  }

 private:
  /// A multiple of the alignment of packed partial results.
  std::size_t bytes_after(const ReduceStep& step) const {
    constexpr std::size_t alignment = 64;
    const std::size_t bytes = static_cast<std::size_t>(results_of(step)) * running_bytes(reduction_, ends_.in_type);
    return align_up(bytes, alignment);
  }

  Reduction reduction_;
  std::vector<ReduceStep> steps_;
  ReduceEnds ends_;
  float scale_;
};

std::unique_ptr<Kernel> plan_passes(const Op& op, const Signature& signature, Device& device, Reduction reduction,
                                    const std::vector<ReducePass>& passes, double scale = 1) {
  const bool may_pack = is_floating(signature.inputs[0].dtype) && reduction != Reduction::arg_max;
  ReduceLaunches steps(reduction, reduce_steps(passes, may_pack, cuda_device(device).properties().multiprocessors),
                       signature, scale);
  const std::size_t workspace_bytes = steps.workspace_bytes();
  return launch_kernel(op, device, std::move(steps), workspace_bytes);
}

std::unique_ptr<Kernel> plan_reduction(const ReductionOp& op, const Signature& signature, Device& device,
                                       Reduction reduction, double scale = 1) {
  const TensorType& input = signature.inputs[0];
  return plan_passes(op, signature, device, reduction, reduce_passes(input.shape, op.reduced(input)), scale);
}

void require_summable(const Op& op, Dtype type) {
  if (is_floating(type) || type == Dtype::i64 || type == Dtype::i32) return;  // smaller integers would overflow at once
  refuse(op, fmt::format("{} is not supported; cast to int32, int64 or float32 first", to_string(type)));
}

std::unique_ptr<Kernel> plan_reduce_sum(const ReduceSum& op, const Signature& signature, Device& device) {
  require_summable(op, signature.inputs[0].dtype);
  return plan_reduction(op, signature, device, Reduction::sum);
}

std::unique_ptr<Kernel> plan_reduce_mean(const ReduceMean& op, const Signature& signature, Device& device) {
  require_floating(op, signature.inputs[0]);
  const auto inputs = static_cast<double>(signature.inputs[0].elements());
  const auto outputs = static_cast<double>(signature.outputs[0].elements());
  return plan_reduction(op, signature, device, Reduction::sum, outputs / inputs);
}

std::unique_ptr<Kernel> plan_reduce_max(const ReduceMax& op, const Signature& signature, Device& device) {
  return plan_reduction(op, signature, device, Reduction::maximum);
}

std::unique_ptr<Kernel> plan_reduce_min(const ReduceMin& op, const Signature& signature, Device& device) {
  return plan_reduction(op, signature, device, Reduction::minimum);
}

std::unique_ptr<Kernel> plan_arg_max(const ArgMax& op, const Signature& signature, Device& device) {
  return plan_passes(op, signature, device, Reduction::arg_max, {axis_pass(signature.inputs[0].shape, op.axis)});
}

std::unique_ptr<Kernel> plan_cumsum(const Cumsum& op, const Signature& signature, Device& device) {
  const TensorType& input = signature.inputs[0];
  require_summable(op, input.dtype);
  const ReducePass pass = axis_pass(input.shape, op.axis);
  return launch_kernel(op, device,
                       [shape = CumsumShape{pass.before, pass.extent, pass.after, op.reverse, input.dtype}](
                           const LaunchOn& on, Views inputs, Views outputs) {
                         return launch_cumsum(on, shape, outputs[0].data, inputs[0].data);
                       });
}

std::unique_ptr<Kernel> plan_bias_gradient(const BiasGradient& op, const Signature& signature, Device& device) {
  const TensorType& dy = signature.inputs[0];
  require_floating(op, dy);
  std::vector<bool> reduced(dy.shape.size(), true);
  reduced.back() = false;
  return plan_passes(op, signature, device, Reduction::sum, reduce_passes(dy.shape, reduced));
}

}  // namespace

void add_reduce(KernelTable& table) {
  add_row<&plan_reduce_sum>(table);
  add_row<&plan_reduce_mean>(table);
  add_row<&plan_reduce_max>(table);
  add_row<&plan_reduce_min>(table);
  add_row<&plan_arg_max>(table);
  add_row<&plan_cumsum>(table);
  add_row<&plan_bias_gradient>(table);
}

}  // namespace gpubench::cuda
