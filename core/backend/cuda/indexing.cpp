#include "core/backend/cuda/kernels/indexing.h"

#include <algorithm>

#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/launch_kernel.h"
#include "core/backend/cuda/reduce_plan.h"
#include "core/backend/cuda/status.h"
#include "core/ops/indexing.h"

namespace gpubench::cuda {
namespace {

/// Elements of one row of a tensor whose first `leading` dimensions number the rows.
std::int64_t row_elements(const Shape& shape, std::size_t leading) {
  return element_count(std::span(shape).subspan(leading));
}

Indices indices_in(const TensorView& view) {
  return {view.data, view.type->dtype, view.elements()};
}

/// Sums the parts' gradients, which lie in the workspace.
class SharedGatherGradient {
 public:
  SharedGatherGradient(const GatherGradientShape& shape, Dtype output)
      : shape_(shape),
        join_(last_reduce_step(shape.parts, shape.rows * shape.columns, true)),
        ends_{.in_type = Dtype::f32, .out_type = output} {
    shape_.out_type = Dtype::f32;
  }
  std::size_t workspace_bytes() const {
    return static_cast<std::size_t>(shape_.parts * shape_.rows * shape_.columns) * sizeof(float);
  }
  cudaError_t operator()(const LaunchOn& on, Views inputs, Views outputs, std::span<std::byte> workspace) const {
    const cudaError_t status =
        launch_gather_gradient(on, indices_in(inputs[1]), shape_, inputs[0].data, workspace.data());
    if (status != cudaSuccess) return status;
    ReduceEnds ends = ends_;
    ends.in = workspace.data();
    ends.out = outputs[0].data;
    return launch_reduce(on, Reduction::sum, join_, ends);
  }

 private:
  GatherGradientShape shape_;
  ReduceStep join_;
  ReduceEnds ends_;
};

std::unique_ptr<Kernel> plan_one_hot(const OneHot& op, const Signature&, Device& device) {
  return launch_kernel(op, device,
                       [depth = op.depth, type = op.dtype](const LaunchOn& on, Views inputs, Views outputs) {
                         return launch_one_hot(on, indices_in(inputs[0]), depth, type, outputs[0].data);
                       });
}

std::unique_ptr<Kernel> plan_gather(const Gather& op, const Signature& signature, Device& device) {
  const TensorType& params = signature.inputs[0];
  if (params.dtype == Dtype::bytes) refuse(op, "bytes is not supported");
  const std::int64_t row_bytes = row_elements(params.shape, 1) * static_cast<std::int64_t>(size_of(params.dtype));
  return launch_kernel(
      op, device,
      [rows = params.shape[0], row_bytes, type = params.dtype](const LaunchOn& on, Views inputs, Views outputs) {
        return launch_gather(on, indices_in(inputs[1]), rows, row_bytes, type, inputs[0].data, outputs[0].data);
      });
}

std::unique_ptr<Kernel> plan_gather_gradient(const GatherGradient& op, const Signature& signature, Device& device) {
  const TensorType& dy = signature.inputs[0];
  require_floating(op, dy);
  GatherGradientShape shape{op.rows, row_elements(signature.outputs[0].shape, 1), 1, dy.dtype, dy.dtype};
  shape.parts = gather_gradient_parts(signature.inputs[1].elements(), shape.rows, shape.columns,
                                      cuda_device(device).properties().multiprocessors);
  if (shape.parts > 1) {
    const SharedGatherGradient shared(shape, dy.dtype);
    return launch_kernel(op, device, shared, shared.workspace_bytes());
  }
  return launch_kernel(op, device, [shape](const LaunchOn& on, Views inputs, Views outputs) {
    return launch_gather_gradient(on, indices_in(inputs[1]), shape, inputs[0].data, outputs[0].data);
  });
}

static_assert(most_indexed_axes == FlatIndex::most_axes);

std::unique_ptr<Kernel> plan_flat_index(const FlatIndex& op, const Signature&, Device& device) {
  IndexedAxes axes;
  for (const std::int64_t extent : op.extents) axes.extents[axes.count++] = extent;
  return launch_kernel(op, device, [axes](const LaunchOn& on, Views inputs, Views outputs) {
    const Indices places{inputs[0].data, inputs[0].type->dtype, outputs[0].elements()};
    return launch_flat_index(on, places, axes, outputs[0].as<std::int64_t>());
  });
}

std::unique_ptr<Kernel> plan_scatter_update(const ScatterUpdate& op, const Signature& signature, Device& device) {
  const TensorType& x = signature.inputs[0];
  const std::int64_t row_bytes = row_elements(x.shape, 1) * static_cast<std::int64_t>(size_of(x.dtype));
  return launch_kernel(op, device,
                       [rows = x.shape[0], row_bytes, type = x.dtype](const LaunchOn& on, Views inputs, Views outputs) {
                         return launch_scatter_update(on, indices_in(inputs[1]), rows, row_bytes, type, inputs[0].data,
                                                      inputs[2].data, outputs[0].data);
                       });
}

}  // namespace

void add_indexing(KernelTable& table) {
  add_row<&plan_flat_index>(table);
  add_row<&plan_scatter_update>(table);
  add_row<&plan_one_hot>(table);
  add_row<&plan_gather>(table);
  add_row<&plan_gather_gradient>(table);
}

}  // namespace gpubench::cuda
