// The unit of work of a map: a block of inputs and their results, in segments of contiguous elements. Parcels circulate
// between workers and consumer, so that a warm map allocates nothing.
#pragma once
#include <exception>
#include <vector>

#include "core/base/clock.h"
#include "core/data/element.h"
#include "core/data/element/input_block.h"

namespace gpubench {

struct Segment {
  /// Number of elements: rows first_row, first_row + 1, ... of the tensors. An error is a segment of one element
  /// without tensors.
  std::int64_t count = 0;
  std::int64_t first_row = 0;
  Element tensors;
  std::vector<TensorType> row_types;
  std::exception_ptr error;
};

struct Parcel {
  InputBlock inputs;
  /// Index of the first element in the epoch.
  std::int64_t index = 0;
  /// Time that the source took for the inputs.
  Seconds pulling{};
  std::vector<Segment> segments;
  std::size_t used = 0;  ///< segments
  std::int64_t bytes = 0;

  Segment& add_segment() {
    if (used == segments.size()) segments.emplace_back();
    Segment& segment = segments[used++];
    segment.count = 0;
    segment.first_row = 0;
    segment.error = nullptr;
    release(segment.tensors);
    return segment;
  }
  /// Releases the results.
  void clear() {
    for (Segment& segment : segments) {
      release(segment.tensors);
      segment.error = nullptr;
    }
    used = 0;
    bytes = 0;
  }
};

}  // namespace gpubench
