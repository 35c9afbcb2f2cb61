// Copies between two strided walks over the same shape, which look at the size of elements only. A transpose reads
// columns and writes rows; it goes by tiles, so that every cache line is used whole while it is near. (Reshape is a
// view and has no kernel.)
#include "core/ops/shape_ops.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "core/backend/broadcast_plan.h"
#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"
#include "core/backend/cpu/widened.h"

namespace gpubench::cpu {
namespace {

template <class T>
class StridedCopy {
 public:
  StridedCopy(std::string_view op, const Shape& shape, Walk from, Walk to)
      : from_(from.start),
        to_(to.start),
        elements_(element_count(shape)),
        plan_(plan_strided<2>(op, shape, {std::move(from.strides), std::move(to.strides)})) {
    if (plan_.inner_strides[0] > 1) take_crossing_dimension();
    bands_ = (crossing_ + tile - 1) / tile;
    threads_ = threads_for_stream(plan_.rows * bands_, elements_ * static_cast<std::int64_t>(2 * sizeof(T)));
  }

  void operator()(const T* from, T* to) const {
    if (elements_ == 0) return;
    parallel_ranges(threads_, plan_.rows * bands_, [&](int, std::int64_t begin, std::int64_t end) {
      RowCursor<2> cursor(plan_, begin / bands_);
      for (std::int64_t i = begin; i < end; ++i) {
        const T* const source = from + from_ + cursor.offset(0);
        T* const destination = to + to_ + cursor.offset(1);
        if (crossing_ == 1) {
          copy_row(plan_.inner, source, destination);
        } else {
          const std::int64_t first = i % bands_ * tile;
          copy_band(std::min(tile, crossing_ - first), source + first, destination + first * crossing_stride_);
        }
        if ((i + 1) % bands_ == 0) cursor.advance();
      }
    });
  }

 private:
  /// Elements of a tile's side: 32 columns of 32 elements stay in the first-level cache.
  static constexpr std::int64_t tile = 32;

  /// Takes the outer dimension in which the source is contiguous out of the rows, to be walked by tiles.
  void take_crossing_dimension() {
    const Strides& source = plan_.outer_strides[0];
    const auto contiguous = std::find(source.begin(), source.end(), 1);
    if (contiguous == source.end()) return;
    const std::ptrdiff_t d = contiguous - source.begin();
    crossing_ = plan_.outer[static_cast<std::size_t>(d)];
    crossing_stride_ = plan_.outer_strides[1][static_cast<std::size_t>(d)];
    plan_.outer.erase(plan_.outer.begin() + d);
    for (Strides& strides : plan_.outer_strides) strides.erase(strides.begin() + d);
    plan_.rows /= std::max<std::int64_t>(crossing_, 1);
  }

  void copy_row(std::int64_t count, const T* from, T* to) const {
    const auto [from_stride, to_stride] = plan_.inner_strides;
    if (to_stride == 1 && from_stride == 1) {
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
    } else if (to_stride == 1 && from_stride == 0) {
      std::fill_n(to, count, *from);
    } else {
      for (std::int64_t i = 0; i < count; ++i) to[i * to_stride] = from[i * from_stride];
    }
  }

  /// `width` neighbours of the source become rows of the destination.
  void copy_band(std::int64_t width, const T* from, T* to) const {
    const auto [from_stride, to_stride] = plan_.inner_strides;
    for (std::int64_t first = 0; first < plan_.inner; first += tile) {
      const std::int64_t last = std::min(first + tile, plan_.inner);
      for (std::int64_t row = 0; row < width; ++row) {
        for (std::int64_t i = first; i < last; ++i) {
          to[row * crossing_stride_ + i * to_stride] = from[row + i * from_stride];
        }
      }
    }
  }

  std::int64_t from_, to_, elements_;
  BroadcastPlan<2> plan_;
  std::int64_t crossing_ = 1, crossing_stride_ = 0;  // extent, and stride of the destination
  std::int64_t bands_ = 1;                           // tiles across the crossing dimension
  int threads_ = 1;
};

Walk walk_of(const ResolvedSlice& slice, const Shape& whole) {
  return sliced(whole, slice.begin, slice.stride);
}

/// A kernel that writes all of its output from front to back, reading as `from` says.
std::unique_ptr<Kernel> gather_walk(std::string_view op, const Signature& signature, const Walk& from) {
  const Shape& shape = signature.outputs[0].shape;
  return dispatch_size(signature.outputs[0].dtype, [&]<class T>() {
    return loop_kernel([copy = StridedCopy<T>(op, shape, from, row_major(shape))](Views inputs, Views outputs) {
      copy(raw<T>(inputs[0]), raw<T>(outputs[0]));
    });
  });
}

std::unique_ptr<Kernel> plan_transpose(const Transpose& op, const Signature& signature, Device&) {
  const TensorType& type = signature.inputs[0];
  return gather_walk(op.name(), signature, transposed(type.shape, op.order(type)));
}

std::unique_ptr<Kernel> plan_reverse(const Reverse& op, const Signature& signature, Device&) {
  const TensorType& type = signature.inputs[0];
  return gather_walk(op.name(), signature, reversed(type.shape, op.reversed(type)));
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
    return loop_kernel([copy = StridedCopy<T>(op.name(), shape, row_major(shape), to),
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

}  // namespace

void add_shape_ops(KernelTable& table) {
  add_row<&plan_transpose>(table);
  add_float32_row<&plan_reverse>(table);
  add_row<&plan_slice>(table);
  add_row<&plan_slice_gradient>(table);
  add_row<&plan_concat>(table);
  add_row<&plan_broadcast_to>(table);
}

}  // namespace gpubench::cpu
