#include "core/backend/cpu/shape_ops.h"

#include <cstring>
#include <numeric>
#include <vector>

#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"
#include "core/backend/cpu/strided_copy.h"

namespace gpubench::cpu {
namespace {

Strides row_major(const Shape& shape) {
  Strides strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

Walk walk_of(const ResolvedSlice& slice, const Shape& whole) {
  Walk walk{0, row_major(whole)};
  for (std::size_t i = 0; i < whole.size(); ++i) {
    walk.start += slice.begin[i] * walk.strides[i];
    walk.strides[i] *= slice.stride[i];
  }
  return walk;
}

/// A kernel that writes all of its output from front to back, reading as `from` says.
std::unique_ptr<Kernel> gather_walk(std::string_view op, const Signature& signature, const Walk& from) {
  const Shape& shape = signature.outputs[0].shape;
  return dispatch_size(signature.outputs[0].dtype, [&]<class T>() {
    return loop_kernel([copy = StridedCopy<T>(op, shape, from, {0, row_major(shape)})](Views inputs, Views outputs) {
      copy(raw<T>(inputs[0]), raw<T>(outputs[0]));
    });
  });
}

}  // namespace

std::unique_ptr<Kernel> plan_transpose(const Transpose& op, const Signature& signature, Device&) {
  const Strides strides = row_major(signature.inputs[0].shape);
  Walk from;
  for (const std::int64_t axis : op.order(signature.inputs[0])) {
    from.strides.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  return gather_walk(op.name(), signature, from);
}

std::unique_ptr<Kernel> plan_reverse(const Reverse& op, const Signature& signature, Device&) {
  const TensorType& type = signature.inputs[0];
  const std::vector<bool> reversed = op.reversed(type);
  Walk from{0, row_major(type.shape)};
  for (std::size_t i = 0; i < reversed.size() && type.elements() > 0; ++i) {
    if (!reversed[i]) continue;
    from.start += (type.shape[i] - 1) * from.strides[i];
    from.strides[i] = -from.strides[i];
  }
  return gather_walk(op.name(), signature, from);
}

std::unique_ptr<Kernel> plan_slice(const Slice& op, const Signature& signature, Device&) {
  return gather_walk(op.name(), signature, walk_of(op.resolve(signature.inputs[0]), signature.inputs[0].shape));
}

std::unique_ptr<Kernel> plan_broadcast_to(const BroadcastTo& op, const Signature& signature, Device&) {
  const Walk from{0, stretched_strides(signature.inputs[0].shape, signature.outputs[0].shape)};
  return gather_walk(op.name(), signature, from);
}

std::unique_ptr<Kernel> plan_slice_gradient(const SliceGradient& op, const Signature& signature, Device&) {
  const Shape& shape = signature.inputs[0].shape;
  const Walk to = walk_of(op.resolve(), op.input_shape);
  return dispatch_size(signature.outputs[0].dtype, [&]<class T>() {
    return loop_kernel([copy = StridedCopy<T>(op.name(), shape, {0, row_major(shape)}, to),
                        bytes = signature.outputs[0].bytes()](Views inputs, Views outputs) {
      std::memset(outputs[0].data, 0, bytes);
      copy(raw<T>(inputs[0]), raw<T>(outputs[0]));
    });
  });
}

std::unique_ptr<Kernel> plan_concat(const Concat& op, const Signature& signature, Device&) {
  const TensorType& output = signature.outputs[0];
  const std::int64_t axis = op.axis < 0 ? op.axis + output.rank() : op.axis;
  const std::span<const std::int64_t> outer(output.shape.data(), static_cast<std::size_t>(axis));
  const std::int64_t rows = element_count(outer);
  std::vector<std::size_t> widths;  // bytes that each input adds to a row of the output
  for (const TensorType& type : signature.inputs) {
    widths.push_back(rows == 0 ? 0 : type.bytes() / static_cast<std::size_t>(rows));
  }
  const std::size_t width = std::accumulate(widths.begin(), widths.end(), std::size_t{0});
  const int threads = threads_for_stream(rows, static_cast<std::int64_t>(2 * output.bytes()));
  return loop_kernel([=](Views inputs, Views outputs) {
    parallel_ranges(threads, rows, [&](int, std::int64_t begin, std::int64_t end) {
      for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) {
        std::byte* to = outputs[0].data + row * width;
        for (std::size_t i = 0; i < widths.size(); ++i) {
          std::memcpy(to, inputs[i].data + row * widths[i], widths[i]);
          to += widths[i];
        }
      }
    });
  });
}

}  // namespace gpubench::cpu
