#include "core/backend/cpu/few_position_conv.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"
#include "core/base/align.h"
#include "core/ops/matmul.h"

namespace gpubench::cpu {
namespace {

/// The pixels that each position of a result sees: a row of taps for each position, [positions, taps * channels].
class Taps {
 public:
  Taps(std::string_view op, const Conv2DAttributes& options, const Shape& image, const Shape& filter)
      : options_(options),
        axes_(slide(op, options, image, filter)),
        image_(image),
        size_{filter[0], filter[1]},
        positions_(image[0] * axes_[0].outputs * axes_[1].outputs),
        row_(filter[0] * filter[1] * filter[2]) {}

  std::int64_t positions() const { return positions_; }
  std::int64_t row() const { return row_; }
  std::size_t bytes() const { return static_cast<std::size_t>(positions_ * row_) * sizeof(float); }

  /// Taps beside the image are 0.
  void gather(const float* image, float* rows) const {
    parallel_ranges(threads(positions_), positions_, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t position = begin; position < end; ++position) {
        float* to = rows + position * row_;
        const std::int64_t column = position % axes_[1].outputs, above = position / axes_[1].outputs;
        const std::int64_t row = above % axes_[0].outputs, batch = above / axes_[0].outputs;
        for (std::int64_t tap = 0; tap < size_[0] * size_[1]; ++tap, to += channels()) {
          const std::int64_t y = pixel(0, row, tap / size_[1]), x = pixel(1, column, tap % size_[1]);
          const bool inside = y >= 0 && y < image_[1] && x >= 0 && x < image_[2];
          const auto bytes = static_cast<std::size_t>(channels()) * sizeof(float);
          if (inside)
            std::memcpy(to, image + ((batch * image_[1] + y) * image_[2] + x) * channels(), bytes);
          else
            std::memset(to, 0, bytes);
        }
      }
    });
  }

  /// Each pixel becomes the sum of the taps that see it.
  void sum(const float* rows, float* image) const {
    const std::int64_t pixels = image_[0] * image_[1] * image_[2];
    parallel_ranges(threads(pixels), pixels, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t at = begin; at < end; ++at) {
        float* const to = image + at * channels();
        std::fill_n(to, channels(), 0.0F);
        const std::int64_t x = at % image_[2], y = at / image_[2] % image_[1], batch = at / image_[2] / image_[1];
        for (std::int64_t tap = 0; tap < size_[0] * size_[1]; ++tap) {
          const std::int64_t row = output(0, y, tap / size_[1]), column = output(1, x, tap % size_[1]);
          if (row < 0 || column < 0) continue;
          const std::int64_t position = (batch * axes_[0].outputs + row) * axes_[1].outputs + column;
          const float* const from = rows + position * row_ + tap * channels();
          for (std::int64_t c = 0; c < channels(); ++c) to[c] += from[c];
        }
      }
    });
  }

 private:
  std::int64_t channels() const { return image_[3]; }
  int threads(std::int64_t items) const { return threads_for_stream(items, static_cast<std::int64_t>(2 * bytes())); }
  std::int64_t pixel(std::size_t axis, std::int64_t output, std::int64_t tap) const {
    return output * options_.strides[axis] - axes_[axis].padding_before + tap * options_.dilations[axis];
  }
  /// The output whose tap this pixel is; -1: none.
  std::int64_t output(std::size_t axis, std::int64_t pixel, std::int64_t tap) const {
    const std::int64_t from = pixel + axes_[axis].padding_before - tap * options_.dilations[axis];
    if (from < 0 || from % options_.strides[axis] != 0) return -1;
    const std::int64_t output = from / options_.strides[axis];
    return output < axes_[axis].outputs ? output : -1;
  }

  Conv2DAttributes options_;
  std::array<WindowAxis, 2> axes_;
  Shape image_;
  std::array<std::int64_t, 2> size_;
  std::int64_t positions_, row_;
};

TensorType matrix(std::int64_t rows, std::int64_t columns) {
  return {{rows, columns}, Dtype::f32};
}

/// A product of matrices, with rows of taps in the workspace as one of its operands or as its result.
class TapsProduct final : public Kernel {
 public:
  enum class Place : std::uint8_t { first_operand, result };

  /// `inputs` and `output`: the matrices of the product, of which the rows of taps are the first, or the output.
  TapsProduct(Taps taps, Place place, const Matmul& product, std::vector<TensorType> inputs, TensorType output,
              Device& device)
      : taps_(std::move(taps)),
        place_(place),
        inputs_(std::move(inputs)),
        output_(std::move(output)),
        product_(plan_kernel(product, Signature{inputs_, {&output_, 1}}, device)),
        taps_bytes_(align_up(taps_.bytes(), alignment)) {}

  std::string_view implementation() const override { return product_->implementation(); }
  std::size_t workspace_bytes() const override { return taps_bytes_ + product_->workspace_bytes(); }
  void run(Stream& stream, Views inputs, Views outputs, std::span<std::byte> workspace) override {
    auto* const rows = reinterpret_cast<float*>(workspace.data());
    const std::span<std::byte> rest = workspace.subspan(taps_bytes_);
    std::array<TensorView, 3> read{};
    for (std::size_t i = 0; i < inputs_.size(); ++i) read[i] = {&inputs_[i], inputs[i].data};
    TensorView written{&output_, outputs[0].data};
    if (place_ == Place::first_operand) {
      taps_.gather(inputs[0].as<float>(), rows);
      read[0].data = workspace.data();
    } else {
      written.data = workspace.data();
    }
    product_->run(stream, std::span(read).first(inputs_.size()), {&written, 1}, rest);
    if (place_ == Place::result) taps_.sum(rows, outputs[0].as<float>());
  }

 private:
  static constexpr std::size_t alignment = 64;

  Taps taps_;
  Place place_;
  std::vector<TensorType> inputs_;
  TensorType output_;
  std::unique_ptr<Kernel> product_;
  std::size_t taps_bytes_;
};

}  // namespace

bool few_position_conv_applies(const Conv2DAttributes& options, const TensorType& result, const Shape& filter) {
  // Measured on two cores with AVX-512 (1024 channels, 3 x 3, 32 positions).
  constexpr std::int64_t most_positions = 48, least_weights = 1 << 15;
  if (result.dtype != Dtype::f32 || options.groups != 1 || result.elements() == 0) return false;
  return result.elements() / result.shape.back() <= most_positions && element_count(filter) >= least_weights;
}

std::unique_ptr<Kernel> plan_few_position_conv2d(const Conv2D& op, const Signature& signature, Device& device) {
  const TensorType &image = signature.inputs[0], &filter = signature.inputs[1];
  Taps taps(op.name(), op.options, image.shape, filter.shape);
  std::vector<TensorType> inputs{matrix(taps.positions(), taps.row()), matrix(taps.row(), filter.shape[3])};
  if (op.options.bias) inputs.push_back(signature.inputs[2]);
  const TensorType output = matrix(taps.positions(), filter.shape[3]);
  return std::make_unique<TapsProduct>(std::move(taps), TapsProduct::Place::first_operand,
                                       Matmul({.bias = op.options.bias, .activation = op.options.activation}),
                                       std::move(inputs), output, device);
}

std::unique_ptr<Kernel> plan_few_position_conv2d_input_gradient(const Conv2DInputGradient& op,
                                                                const Signature& signature, Device& device) {
  const Shape& filter = signature.inputs[1].shape;
  Taps taps(op.name(), op.options, op.input_shape, filter);
  const TensorType output = matrix(taps.positions(), taps.row());
  std::vector<TensorType> inputs{matrix(taps.positions(), filter[3]), matrix(taps.row(), filter[3])};
  return std::make_unique<TapsProduct>(std::move(taps), TapsProduct::Place::result, Matmul({.transpose_b = true}),
                                       std::move(inputs), output, device);
}

std::unique_ptr<Kernel> plan_few_position_conv2d_filter_gradient(const Conv2DFilterGradient& op,
                                                                 const Signature& signature, Device& device) {
  const Shape& filter = op.filter_shape;
  Taps taps(op.name(), op.options, signature.inputs[0].shape, filter);
  std::vector<TensorType> inputs{matrix(taps.positions(), taps.row()), matrix(taps.positions(), filter[3])};
  const TensorType output = matrix(taps.row(), filter[3]);
  return std::make_unique<TapsProduct>(std::move(taps), TapsProduct::Place::first_operand,
                                       Matmul({.transpose_a = true}), std::move(inputs), output, device);
}

}  // namespace gpubench::cpu
