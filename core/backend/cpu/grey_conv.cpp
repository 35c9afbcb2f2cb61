#include "core/backend/cpu/grey_conv.h"

#include <cstddef>

#include "core/backend/cpu/grey_conv_geometry.h"
#include "core/backend/cpu/loop_kernel.h"

namespace gpubench::cpu {
namespace {

constexpr std::int64_t most_channels = 4, most_taps = 32;

// 26 sums, 2 vectors of the filter and the image's elements from memory: what 32 registers hold.
constexpr std::int64_t most_columns = 13;
// 24 sums and 2 vectors of the gradient.
constexpr std::int64_t most_taps_at_once = 12;

Lanes load(const float* from) {
  return *reinterpret_cast<const Lanes*>(from);
}

struct Epilogue {
  const float* bias;  // null for none
  bool relu;
};

/// `Columns` results of one row times `Vectors` vectors of result channels.
template <std::int64_t Columns, std::int64_t Vectors>
void convolve(const GreyConvGeometry& g, const float* x, const float* filter, const Epilogue& epilogue, float* y) {
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
void convolve_image(const GreyConvGeometry& g, const float* x, const float* filter, const Epilogue& epilogue,
                    float* y) {
  for (std::int64_t row = 0; row < g.rows; ++row) {
    in_groups<most_columns>(g.columns, [&]<std::int64_t Columns>(std::int64_t first) {
      convolve<Columns, Vectors>(g, x + row * g.row_step + first * g.column_step, filter, epilogue,
                                 y + (row * g.columns + first) * g.filters);
    });
  }
}

/// sums[tap] += x[.. + tap] * dy over one image, for `Taps` taps and `Vectors` vectors of result channels.
template <std::int64_t Taps, std::int64_t Vectors>
void correlate(const GreyConvGeometry& g, const float* x, const std::int64_t* taps, const float* dy, float* totals) {
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

/// body.template operator()<Vectors>(first channel): two vectors of channels at a time, then what is left.
template <class Body>
void for_channels(std::int64_t filters, const Body& body) {
  std::int64_t channel = 0;
  for (; channel + 2 * lane_count <= filters; channel += 2 * lane_count) body.template operator()<2>(channel);
  if (channel < filters) body.template operator()<1>(channel);
}

float* part(std::span<std::byte> workspace, int thread, std::int64_t elements) {
  return reinterpret_cast<float*>(workspace.data()) + thread * elements;
}

std::size_t float_bytes(std::int64_t elements) {
  return static_cast<std::size_t>(elements) * sizeof(float);
}

}  // namespace

bool grey_conv_applies(const Conv2DAttributes& options, const TensorType& image, const Shape& filter) {
  const bool simple = options.activation == Activation::none || options.activation == Activation::relu;
  return image.dtype == Dtype::f32 && simple && filter[2] <= most_channels && filter[3] % lane_count == 0 &&
         filter[0] * filter[1] * filter[2] <= most_taps && image.elements() > 0;
}

std::unique_ptr<Kernel> plan_grey_conv2d(const Conv2D& op, const Signature& signature, Device& device) {
  device.bind_to_thread();
  const GreyConvGeometry g(op.name(), op.options, signature.inputs[0].shape, signature.inputs[1].shape);
  const bool has_bias = op.options.bias, relu = op.options.activation == Activation::relu;
  return loop_kernel(
      [g, has_bias, relu](Views inputs, Views outputs, std::span<std::byte> workspace) {
        const float *const images = inputs[0].as<float>(), *const filter = inputs[1].as<float>();
        const float* const bias = has_bias ? inputs[2].as<float>() : nullptr;
        float* const results = outputs[0].as<float>();
        parallel_ranges(g.threads, g.batch, [&](int thread, std::int64_t begin, std::int64_t end) {
          for (std::int64_t image = begin; image < end; ++image) {
            const float* const x = g.bordered(images, image, part(workspace, thread, g.copy_elements()));
            float* const y = results + image * g.result_elements();
            for_channels(g.filters, [&]<std::int64_t Vectors>(std::int64_t channel) {
              convolve_image<Vectors>(g, x, filter + channel, {has_bias ? bias + channel : nullptr, relu}, y + channel);
            });
          }
        });
      },
      float_bytes(g.threads * g.copy_elements()));
}

std::unique_ptr<Kernel> plan_grey_conv2d_filter_gradient(const Conv2DFilterGradient& op, const Signature& signature,
                                                         Device& device) {
  device.bind_to_thread();
  const GreyConvGeometry g(op.name(), op.options, signature.inputs[0].shape, signature.outputs[0].shape);
  const std::int64_t own = g.filter_elements() + g.copy_elements();  // of one thread: its sums, its padded image
  return loop_kernel(
      [g, own](Views inputs, Views outputs, std::span<std::byte> workspace) {
        const float *const images = inputs[0].as<float>(), *const slopes = inputs[1].as<float>();
        parallel_ranges(g.threads, g.batch, [&](int thread, std::int64_t begin, std::int64_t end) {
          float* const sums = part(workspace, thread, own);
          std::memset(sums, 0, float_bytes(g.filter_elements()));
          for (std::int64_t image = begin; image < end; ++image) {
            const float* const x = g.bordered(images, image, sums + g.filter_elements());
            const float* const dy = slopes + image * g.result_elements();
            for_channels(g.filters, [&]<std::int64_t Vectors>(std::int64_t channel) {
              in_groups<most_taps_at_once>(static_cast<std::int64_t>(g.taps.size()), [&]<std::int64_t Taps>(
                                                                                         std::int64_t first) {
                correlate<Taps, Vectors>(g, x, g.taps.data() + first, dy + channel, sums + first * g.filters + channel);
              });
            });
          }
        });
        float* const dfilter = outputs[0].as<float>();
        for (std::int64_t i = 0; i < g.filter_elements(); ++i) {
          float sum = 0;
          for (int thread = 0; thread < g.threads; ++thread) sum += part(workspace, thread, own)[i];
          dfilter[i] = sum;
        }
      },
      float_bytes(g.threads * own));
}

}  // namespace gpubench::cpu
