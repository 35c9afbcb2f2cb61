// The loops over one image with few channels: the convolution, and the sums of the filter's gradient.
#pragma once
#include <cstring>
#include <vector>

#include "core/backend/cpu/lanes.h"
#include "core/backend/cpu/parallel.h"
#include "core/ops/conv.h"

namespace gpubench::cpu {

struct FewChannelGeometry {
  FewChannelGeometry(std::string_view op, const Conv2DAttributes& options, const Shape& image, const Shape& filter)
      : batch(image[0]), height(image[1]), width(image[2]), channels(image[3]), filters(filter[3]) {
    const auto axes = slide(op, options, image, filter);
    before = {axes[0].padding_before, axes[1].padding_before};
    padded_height = height + axes[0].padding_before + axes[0].padding_after;
    padded_width = width + axes[1].padding_before + axes[1].padding_after;
    rows = axes[0].outputs;
    columns = axes[1].outputs;
    row_step = options.strides[0] * padded_width * channels;
    column_step = options.strides[1] * channels;
    for (std::int64_t y = 0; y < filter[0]; ++y) {
      for (std::int64_t x = 0; x < filter[1]; ++x) {
        for (std::int64_t c = 0; c < channels; ++c) {
          taps.push_back((y * options.dilations[0] * padded_width + x * options.dilations[1]) * channels + c);
        }
      }
    }
    const auto count = static_cast<std::int64_t>(taps.size());
    threads = threads_for(batch, batch * rows * columns * count * filters / lane_count);
  }

  std::int64_t result_elements() const { return rows * columns * filters; }
  std::int64_t filter_elements() const { return static_cast<std::int64_t>(taps.size()) * filters; }
  bool is_padded() const { return padded_height != height || padded_width != width; }
  /// Elements of one padded image; 0 when there is no padding.
  std::int64_t copy_elements() const { return is_padded() ? padded_height * padded_width * channels : 0; }

  /// Image `index` with its padding: the image itself if it needs none, else a padded copy in `copy`.
  const float* bordered(const float* images, std::int64_t index, float* copy) const {
    const float* from = images + index * height * width * channels;
    if (!is_padded()) return from;
    std::memset(copy, 0, static_cast<std::size_t>(copy_elements()) * sizeof(float));
    float* to = copy + (before[0] * padded_width + before[1]) * channels;
    for (std::int64_t row = 0; row < height; ++row) {
      std::memcpy(to, from, static_cast<std::size_t>(width * channels) * sizeof(float));
      from += width * channels;
      to += padded_width * channels;
    }
    return copy;
  }

  std::int64_t batch, height, width, channels, filters;
  std::int64_t padded_height = 0, padded_width = 0, rows = 0, columns = 0;
  Extents before{};
  std::int64_t row_step = 0, column_step = 0;  // in the padded image, from one result to the next
  std::vector<std::int64_t> taps;              // offsets of the filter's taps in the padded image
  int threads = 1;
};

struct FewChannelEpilogue {
  const float* bias;  ///< null for none
  bool relu;
};

/// y of one padded image `x`.
void convolve_few_channels(const FewChannelGeometry& g, const float* x, const float* filter,
                           const FewChannelEpilogue& epilogue, float* y);
/// Adds one image's part of the filter's gradient to `sums`.
void correlate_few_channels(const FewChannelGeometry& g, const float* x, const float* dy, float* sums);

}  // namespace gpubench::cpu
