// Copies between two strided walks over the same shape. A transpose reads columns and writes rows; it goes by tiles, so
// that every cache line is used whole while it is near.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/backend/broadcast_plan.h"
#include "core/backend/cpu/parallel.h"

namespace gpubench::cpu {

/// Strided memory: where it starts, and how far apart the elements of each dimension lie.
struct Walk {
  std::int64_t start = 0;
  Strides strides;
};

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
        if ((i + 1) % bands_ == 0) cursor.next();
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

}  // namespace gpubench::cpu
