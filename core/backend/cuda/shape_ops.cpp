#include "core/ops/shape_ops.h"

#include <array>
#include <vector>

#include "core/backend/broadcast_plan.h"
#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/kernels/strided_copy.h"
#include "core/backend/cuda/launch_kernel.h"

namespace gpubench::cuda {
namespace {

Walk walk_of(const ResolvedSlice& slice, const Shape& whole) {
  return sliced(whole, slice.begin, slice.stride);
}

StridedWalk walk_over(const Op& op, Shape shape, Dtype dtype, const Walk& from, const Walk& to) {
  StridedWalk walk{.access = {}, .from = from.start, .to = to.start, .element_bytes = size_of(dtype)};
  walk.access.elements = element_count(shape);
  std::array strides{from.strides, to.strides};
  merge_dimensions(op.name(), shape, strides);
  walk.access.rank = std::max(1, static_cast<int>(shape.size()));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    walk.access.extent[d] = shape[d];
    for (std::size_t i = 0; i < strides.size(); ++i) walk.access.stride[i][d] = strides[i][d];
  }
  return walk;
}

/// A kernel that writes all of its output from front to back, reading as `from` says.
std::unique_ptr<Kernel> gather_kernel(const Op& op, const Signature& signature, Device& device, const Walk& from) {
  const TensorType& type = signature.outputs[0];
  const StridedWalk walk = walk_over(op, type.shape, type.dtype, from, row_major(type.shape));
  return launch_kernel(op, device, [walk](const LaunchOn& on, Views inputs, Views outputs) {
    return launch_strided_copy(on, walk, outputs[0].data, inputs[0].data);
  });
}

/// Whether the walk transposes one matrix that is large enough for the tiles of launch_transpose().
bool transposes_matrix(const StridedWalk& walk) {
  constexpr std::int64_t least = 8;
  const auto& [extent, stride] = std::tie(walk.access.extent, walk.access.stride);
  return walk.access.rank == 2 && stride[0][0] == 1 && stride[0][1] == extent[0] && extent[0] >= least &&
         extent[1] >= least && (walk.element_bytes == 2 || walk.element_bytes == 4);
}

std::unique_ptr<Kernel> plan_transpose(const Transpose& op, const Signature& signature, Device& device) {
  const TensorType &x = signature.inputs[0], &y = signature.outputs[0];
  const Walk from = transposed(x.shape, op.order(x));
  const StridedWalk walk = walk_over(op, y.shape, y.dtype, from, row_major(y.shape));
  if (!transposes_matrix(walk)) return gather_kernel(op, signature, device, from);
  return launch_kernel(op, device,
                       [columns = walk.access.extent[0], rows = walk.access.extent[1], bytes = walk.element_bytes](
                           const LaunchOn& on, Views in, Views out) {
                         return launch_transpose(on, rows, columns, bytes, out[0].data, in[0].data);
                       });
}

std::unique_ptr<Kernel> plan_reverse(const Reverse& op, const Signature& signature, Device& device) {
  const TensorType& type = signature.inputs[0];
  return gather_kernel(op, signature, device, reversed(type.shape, op.reversed(type)));
}

std::unique_ptr<Kernel> plan_slice(const Slice& op, const Signature& signature, Device& device) {
  const Walk from = walk_of(op.resolve(signature.inputs[0]), signature.inputs[0].shape);
  return gather_kernel(op, signature, device, from);
}

std::unique_ptr<Kernel> plan_broadcast_to(const BroadcastTo& op, const Signature& signature, Device& device) {
  const Walk from{0, stretched_strides(signature.inputs[0].shape, signature.outputs[0].shape)};
  return gather_kernel(op, signature, device, from);
}

std::unique_ptr<Kernel> plan_slice_gradient(const SliceGradient& op, const Signature& signature, Device& device) {
  const TensorType& dy = signature.inputs[0];
  const StridedWalk walk =
      walk_over(op, dy.shape, dy.dtype, row_major(dy.shape), walk_of(op.resolve(), op.input_shape));
  return launch_kernel(
      op, device, [walk, bytes = signature.outputs[0].bytes()](const LaunchOn& on, Views inputs, Views outputs) {
        if (bytes == 0) return cudaSuccess;
        const cudaError_t status = cudaMemsetAsync(outputs[0].data, 0, bytes, on.stream);
        return status != cudaSuccess ? status : launch_strided_copy(on, walk, outputs[0].data, inputs[0].data);
      });
}

std::unique_ptr<Kernel> plan_concat(const Concat& op, const Signature& signature, Device& device) {
  const TensorType& output = signature.outputs[0];
  const std::int64_t axis = op.axis < 0 ? op.axis + output.rank() : op.axis;
  const std::int64_t rows =
      element_count(std::span<const std::int64_t>(output.shape).first(static_cast<std::size_t>(axis)));
  const std::int64_t width = rows == 0 ? 0 : output.elements() / rows;
  std::vector<StridedWalk> walks;
  std::int64_t start = 0;
  for (const TensorType& part : signature.inputs) {
    const std::int64_t columns = rows == 0 ? 0 : part.elements() / rows;
    walks.push_back(walk_over(op, {rows, columns}, output.dtype, {0, {columns, 1}}, {start, {width, 1}}));
    start += columns;
  }
  return launch_kernel(op, device, [walks](const LaunchOn& on, Views inputs, Views outputs) {
    for (std::size_t i = 0; i < walks.size(); ++i) {
      const cudaError_t status = launch_strided_copy(on, walks[i], outputs[0].data, inputs[i].data);
      if (status != cudaSuccess) return status;
    }
    return cudaSuccess;
  });
}

}  // namespace

void add_shape_ops(KernelTable& table) {
  add_row<&plan_transpose>(table);
  add_row<&plan_reverse>(table);
  add_row<&plan_slice>(table);
  add_row<&plan_slice_gradient>(table);
  add_row<&plan_concat>(table);
  add_row<&plan_broadcast_to>(table);
}

}  // namespace gpubench::cuda
