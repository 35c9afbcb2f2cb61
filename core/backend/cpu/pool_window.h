// Where the windows of a pool lie in an image: the loops that forward and gradient kernels share.
#pragma once
#include <algorithm>
#include <cstdint>

#include "core/ops/pool.h"

namespace gpubench::cpu {

struct PoolWindow {
  std::int64_t batch = 0, height = 0, width = 0, channels = 0;  // of the image
  std::int64_t out_height = 0, out_width = 0;
  Extents size{}, strides{}, before{};

  PoolWindow(std::string_view op, const Pool2DAttributes& options, const Shape& image)
      : batch(image[0]),
        height(image[1]),
        width(image[2]),
        channels(image[3]),
        size(options.size),
        strides(options.strides) {
    const auto axes = slide(op, options, image);
    out_height = axes[0].outputs;
    out_width = axes[1].outputs;
    before = {axes[0].padding_before, axes[1].padding_before};
  }

  /// Whether no element of the image belongs to two windows, so that gradients can be written instead of added.
  bool disjoint() const { return strides[0] >= size[0] && strides[1] >= size[1]; }
  /// Whether moreover every element belongs to one.
  bool tiles() const {
    return strides == size && out_height * size[0] == height && out_width * size[1] == width && before == Extents{};
  }
  std::int64_t image_elements() const { return height * width * channels; }

  /// The part of one window that lies inside the image: rows [top, bottom), columns [left, right); (first_row,
  /// first_column) is where the whole window begins.
  struct Place {
    std::int64_t first_row, first_column, top, bottom, left, right;
  };
  Place place(std::int64_t row, std::int64_t column) const {
    const std::int64_t y = row * strides[0] - before[0], x = column * strides[1] - before[1];
    return {y,
            x,
            std::max<std::int64_t>(y, 0),
            std::min(y + size[0], height),
            std::max<std::int64_t>(x, 0),
            std::min(x + size[1], width)};
  }

  std::int64_t result_elements() const { return out_height * out_width * channels; }

  /// body(window's index among the image's results, place) for the result rows [first, last) of one image.
  template <class Body>
  void for_rows(std::int64_t first, std::int64_t last, Body&& body) const {
    for (std::int64_t row = first; row < last; ++row) {
      for (std::int64_t column = 0; column < out_width; ++column) body(row * out_width + column, place(row, column));
    }
  }
};

}  // namespace gpubench::cpu
