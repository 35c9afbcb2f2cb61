#include "core/backend/cuda/kernels/sort.h"

#include <fmt/format.h>

#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/backend/cuda/status.h"
#include "core/ops/sort.h"

namespace gpubench::cuda {
namespace {

std::unique_ptr<Kernel> plan_sort(const Sort& op, const Signature& signature, Device& device) {
  const TensorType& x = signature.inputs[0];
  const std::int64_t columns = x.shape.back(), kept = signature.outputs[0].shape.back();
  if (columns > most_sorted_columns) {
    refuse(op, fmt::format("a row of {} elements; at most {} are possible", columns, most_sorted_columns));
  }
  const std::int64_t rows = columns == 0 ? 0 : x.elements() / columns;
  const SortShape shape{rows, columns, kept, op.descending, x.dtype};
  const LaunchOn anywhere{nullptr, cuda_device(device).properties().multiprocessors};
  return launch_kernel(
      op, device,
      [shape](const LaunchOn& on, Views inputs, Views outputs, std::span<std::byte> workspace) {
        return launch_sort(on, shape, inputs[0].data, outputs[0].data, outputs[1].as<std::int64_t>(), workspace.data());
      },
      sort_workspace_bytes(anywhere, shape));
}

}  // namespace

void add_sort(KernelTable& table) {
  add_row<&plan_sort>(table);
}

}  // namespace gpubench::cuda
