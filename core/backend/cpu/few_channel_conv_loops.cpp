#include "core/backend/cpu/few_channel_conv_loops.h"

namespace gpubench::cpu {
namespace {

// With two vectors of channels, of 32 registers: 18 sums, 2 vectors of the filter and one element of the image. 13
// columns, which would fill them, spill and took 1.4 times as long. Of 16 registers: 12 sums.
constexpr std::int64_t most_columns = vector_registers >= 32 ? 9 : 6;
// 24 sums and 2 vectors of the gradient; 12 sums.
constexpr std::int64_t most_taps_at_once = vector_registers >= 32 ? 12 : 6;

Lanes load(const float* from) {
  return *reinterpret_cast<const Lanes*>(from);
}

/// `Columns` results of one row times `Vectors` vectors of result channels.
template <std::int64_t Columns, std::int64_t Vectors>
void convolve(const FewChannelGeometry& g, const float* x, const float* filter, const FewChannelEpilogue& epilogue,
              float* y) {
  Lanes sums[Columns][Vectors];
#pragma GCC unroll 16
  for (std::int64_t v = 0; v < Vectors; ++v) {
    const Lanes start = epilogue.bias != nullptr ? load(epilogue.bias + v * lane_count) : Lanes{};
#pragma GCC unroll 16
    for (std::int64_t c = 0; c < Columns; ++c) sums[c][v] = start;
  }
  for (const std::int64_t tap : g.taps) {
    const float* const here = x + tap;
#pragma GCC unroll 16
    for (std::int64_t v = 0; v < Vectors; ++v) {
      const Lanes weights = load(filter + v * lane_count);
#pragma GCC unroll 16
      for (std::int64_t c = 0; c < Columns; ++c) sums[c][v] += here[c * g.column_step] * weights;
    }
    filter += g.filters;
  }
#pragma GCC unroll 16
  for (std::int64_t c = 0; c < Columns; ++c) {
#pragma GCC unroll 16
    for (std::int64_t v = 0; v < Vectors; ++v) {
      const Lanes result = epilogue.relu ? (sums[c][v] > 0.0F ? sums[c][v] : Lanes{}) : sums[c][v];
      *reinterpret_cast<Lanes*>(y + c * g.filters + v * lane_count) = result;
    }
  }
}

template <std::int64_t Vectors>
void convolve_image(const FewChannelGeometry& g, const float* x, const float* filter,
                    const FewChannelEpilogue& epilogue, float* y) {
  for (std::int64_t row = 0; row < g.rows; ++row) {
    in_groups<most_columns>(g.columns, [&]<std::int64_t Columns>(std::int64_t first) {
      convolve<Columns, Vectors>(g, x + row * g.row_step + first * g.column_step, filter, epilogue,
                                 y + (row * g.columns + first) * g.filters);
    });
  }
}

/// sums[tap] += x[.. + tap] * dy over one image, for `Taps` taps and `Vectors` vectors of result channels.
template <std::int64_t Taps, std::int64_t Vectors>
void correlate(const FewChannelGeometry& g, const float* x, const std::int64_t* taps, const float* dy, float* totals) {
  Lanes sums[Taps][Vectors]{};
  std::int64_t offsets[Taps];
  for (std::int64_t t = 0; t < Taps; ++t) offsets[t] = taps[t];
  for (std::int64_t row = 0; row < g.rows; ++row) {
    const float* here = x + row * g.row_step;
    for (std::int64_t column = 0; column < g.columns; ++column) {
#pragma GCC unroll 16
      for (std::int64_t v = 0; v < Vectors; ++v) {
        const Lanes slope = load(dy + v * lane_count);
#pragma GCC unroll 16
        for (std::int64_t t = 0; t < Taps; ++t) sums[t][v] += here[offsets[t]] * slope;
      }
      here += g.column_step;
      dy += g.filters;
    }
  }
  for (std::int64_t t = 0; t < Taps; ++t) {
    for (std::int64_t v = 0; v < Vectors; ++v) {
      *reinterpret_cast<Lanes*>(totals + t * g.filters + v * lane_count) += sums[t][v];
    }
  }
}

/// Calls body.template operator()<Vectors>(first channel) for two vectors of channels at a time, then for the rest.
template <class Body>
void for_channels(std::int64_t filters, const Body& body) {
  std::int64_t channel = 0;
  for (; channel + 2 * lane_count <= filters; channel += 2 * lane_count) body.template operator()<2>(channel);
  if (channel < filters) body.template operator()<1>(channel);
}

}  // namespace

void convolve_few_channels(const FewChannelGeometry& g, const float* x, const float* filter,
                           const FewChannelEpilogue& epilogue, float* y) {
  for_channels(g.filters, [&]<std::int64_t Vectors>(std::int64_t channel) {
    const float* const bias = epilogue.bias != nullptr ? epilogue.bias + channel : nullptr;
    convolve_image<Vectors>(g, x, filter + channel, {bias, epilogue.relu}, y + channel);
  });
}

void correlate_few_channels(const FewChannelGeometry& g, const float* x, const float* dy, float* sums) {
  for_channels(g.filters, [&]<std::int64_t Vectors>(std::int64_t channel) {
    in_groups<most_taps_at_once>(static_cast<std::int64_t>(g.taps.size()), [&]<std::int64_t Taps>(std::int64_t first) {
      correlate<Taps, Vectors>(g, x, g.taps.data() + first, dy + channel, sums + first * g.filters + channel);
    });
  });
}

}  // namespace gpubench::cpu
