// Geometry of pooling windows, and max pooling of one channels-last image with its gradient. Used by the pool kernels
// and by the fused convolution and pool.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/backend/cpu/lanes.h"
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

  /// Whether no element belongs to two windows, so that gradients can be written instead of added.
  bool disjoint() const { return strides[0] >= size[0] && strides[1] >= size[1]; }
  /// Whether every element belongs to exactly one window.
  bool tiles() const {
    return strides == size && out_height * size[0] == height && out_width * size[1] == width && before == Extents{};
  }
  std::int64_t image_elements() const { return height * width * channels; }

  /// The part of one window inside the image: rows [top, bottom), columns [left, right). The whole window begins at
  /// (first_row, first_column).
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

  /// Calls body(index of the window in the image's result, place) for the result rows [first, last) of one image.
  template <class Body>
  void for_rows(std::int64_t first, std::int64_t last, Body&& body) const {
    for (std::int64_t row = first; row < last; ++row) {
      for (std::int64_t column = 0; column < out_width; ++column) body(row * out_width + column, place(row, column));
    }
  }
};

/// Calls body(offset of the element's first channel, index inside the window) for each element of the window.
template <class Body>
void for_each_element(const PoolWindow& w, const PoolWindow::Place& at, Body&& body) {
  for (std::int64_t row = at.top; row < at.bottom; ++row) {
    for (std::int64_t column = at.left; column < at.right; ++column) {
      body((row * w.width + column) * w.channels,
           static_cast<std::int32_t>((row - at.first_row) * w.size[1] + column - at.first_column));
    }
  }
}

/// The running maximum of `Vectors` vectors of channels, and the index in the window of each maximum.
template <std::int64_t Vectors>
struct Largest {
  Largest(const float* x, std::int32_t index) {
#pragma GCC unroll 8
    for (std::int64_t v = 0; v < Vectors; ++v) {
      best[v] = *reinterpret_cast<const Lanes*>(x + v * lane_count);
      who[v] = index - IntegerLanes{};
    }
  }

  void consider(const float* x, std::int32_t index) {
#pragma GCC unroll 8
    for (std::int64_t v = 0; v < Vectors; ++v) {
      const Lanes here = *reinterpret_cast<const Lanes*>(x + v * lane_count);
      const auto better = here > best[v];
      best[v] = better ? here : best[v];
      who[v] = better ? index - IntegerLanes{} : who[v];
    }
  }

  template <class Winner>
  void store(float* y, Winner* winners) const {
    using WinnerLanes [[gnu::vector_size(lane_count * sizeof(Winner)), gnu::aligned(1), gnu::may_alias]] = Winner;
#pragma GCC unroll 8
    for (std::int64_t v = 0; v < Vectors; ++v) {
      *reinterpret_cast<Lanes*>(y + v * lane_count) = best[v];
      *reinterpret_cast<WinnerLanes*>(winners + v * lane_count) = __builtin_convertvector(who[v], WinnerLanes);
    }
  }

  Lanes best[Vectors];
  IntegerLanes who[Vectors];
};

/// The maximum of a window for `Vectors` vectors of channels, the first of which begins at `x`.
template <std::int64_t Vectors, class Winner>
void max_of_window(const PoolWindow& w, const PoolWindow::Place& at, const float* x, float* y, Winner* winners) {
  const std::int64_t row_step = w.width * w.channels;
  const float* const first = x + at.top * row_step + at.left * w.channels;
  const auto index = static_cast<std::int32_t>((at.top - at.first_row) * w.size[1] + at.left - at.first_column);
  Largest<Vectors> largest(first, index);
  if (at.bottom - at.top == 2 && at.right - at.left == 2) {  // the usual 2 x 2 window
    const auto next_row = static_cast<std::int32_t>(index + w.size[1]);
    largest.consider(first + w.channels, index + 1);
    largest.consider(first + row_step, next_row);
    largest.consider(first + row_step + w.channels, next_row + 1);
  } else {
    for_each_element(w, at, [&](std::int64_t offset, std::int32_t element) { largest.consider(x + offset, element); });
  }
  largest.store(y, winners);
}

/// The same for one channel.
template <class Winner>
void max_of_window(const PoolWindow& w, const PoolWindow::Place& at, const float* x, float* y, Winner* winners) {
  bool first = true;
  for_each_element(w, at, [&](std::int64_t offset, std::int32_t index) {
    if (!first && x[offset] <= *y) return;
    first = false;
    *y = x[offset];
    *winners = static_cast<Winner>(index);
  });
}

/// Computes the result rows [first, last) of one image; y and winners point to the image's first result.
template <class Winner>
void max_pool_rows(const PoolWindow& w, std::int64_t first, std::int64_t last, const float* image, float* y,
                   Winner* winners) {
  w.for_rows(first, last, [&](std::int64_t index, const PoolWindow::Place& at) {
    const std::int64_t to = index * w.channels;
    std::int64_t c = 0;
    for (; c + 2 * lane_count <= w.channels; c += 2 * lane_count) {
      max_of_window<2>(w, at, image + c, y + to + c, winners + to + c);
    }
    for (; c + lane_count <= w.channels; c += lane_count) {
      max_of_window<1>(w, at, image + c, y + to + c, winners + to + c);
    }
    for (; c < w.channels; ++c) max_of_window(w, at, image + c, y + to + c, winners + to + c);
  });
}

/// Gradient for one element of the window: written where windows are disjoint, else added.
template <bool Disjoint, class Winner>
void spread(const float* __restrict dy, const Winner* __restrict winners, std::int32_t element, std::int64_t channels,
            float* __restrict dx) {
  for (std::int64_t c = 0; c < channels; ++c) {
    const float part = static_cast<std::int32_t>(winners[c]) == element ? dy[c] : 0.0F;
    dx[c] = Disjoint ? part : dx[c] + part;
  }
}

template <bool Disjoint, class Winner>
void spread_image(const PoolWindow& w, const float* dy, const Winner* winners, float* dx) {
  for (std::int64_t index = 0; index < w.out_height * w.out_width; ++index) {
    const PoolWindow::Place at = w.place(index / w.out_width, index % w.out_width);
    for (std::int64_t row = at.top; row < at.bottom; ++row) {
      float* to = dx + (row * w.width + at.left) * w.channels;
      auto element = static_cast<std::int32_t>((row - at.first_row) * w.size[1] + at.left - at.first_column);
      for (std::int64_t column = at.left; column < at.right; ++column) {
        spread<Disjoint>(dy, winners, element, w.channels, to);
        to += w.channels;
        ++element;
      }
    }
    dy += w.channels;
    winners += w.channels;
  }
}

/// dx of one image; dy and winners point to the image's first result.
template <class Winner>
void max_pool_gradient(const PoolWindow& w, const float* dy, const Winner* winners, float* dx) {
  if (!w.tiles()) std::memset(dx, 0, static_cast<std::size_t>(w.image_elements()) * sizeof(float));
  if (w.disjoint()) {
    spread_image<true>(w, dy, winners, dx);
  } else {
    spread_image<false>(w, dy, winners, dx);
  }
}

}  // namespace gpubench::cpu
