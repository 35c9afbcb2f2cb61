#include "core/backend/cuda/kernels/metric.h"

#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/kernels/state.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/ops/metric.h"

namespace gpubench::cuda {
namespace {

std::unique_ptr<Kernel> plan_top_k_matches(const TopKMatches& op, const Signature& signature, Device& device) {
  const Shape& shape = signature.inputs[0].shape;
  return launch_kernel(op, device,
                       [rows = shape[0], columns = shape[1], k = op.k](const LaunchOn& on, Views in, Views out) {
                         return launch_top_k_matches(on, rows, columns, k, in[0].as<float>(), in[1].data,
                                                     in[1].type->dtype, out[0].as<float>());
                       });
}

std::unique_ptr<Kernel> plan_sum_and_count(const SumAndCount& op, const Signature& signature, Device& device) {
  return launch_kernel(op, device, [count = signature.inputs[0].elements()](const LaunchOn& on, Views in, Views out) {
    return launch_sum_and_count(on, out[0].as<float>(), in[0].as<float>(), count);
  });
}

std::unique_ptr<Kernel> plan_binary_matches(const BinaryMatches& op, const Signature& signature, Device& device) {
  return launch_kernel(op, device,
                       [elements = signature.outputs[0].elements(), threshold = static_cast<float>(op.threshold)](
                           const LaunchOn& on, Views in, Views out) {
                         return launch_binary_matches(on, elements, threshold, in[0].as<float>(), in[1].as<float>(),
                                                      out[0].as<float>());
                       });
}

}  // namespace

void add_metric(KernelTable& table) {
  add_row<&plan_top_k_matches>(table);
  add_row<&plan_sum_and_count>(table);
  add_row<&plan_binary_matches>(table);
}

}  // namespace gpubench::cuda
