#include "core/data/function/decode_image.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/codec/jpeg.h"
#include "core/codec/png.h"
#include "core/data/function/pass_through.h"
#include "core/data/tune/machine_limits.h"

namespace gpubench {
namespace {

/// Writes rows unchanged into the output.
class WholeImage final : public RowSink {
 public:
  explicit WholeImage(ElementOutputs& outputs) : outputs_(outputs) {}
  void begin(const ImageSize& size) override {
    row_bytes_ = size.row_bytes();
    to_ = reinterpret_cast<std::uint8_t*>(outputs_.place(0, {{size.height, size.width, size.channels}, Dtype::u8}));
  }
  std::uint8_t* place() override { return to_; }
  void done() override { to_ += row_bytes_; }

 private:
  ElementOutputs& outputs_;
  std::size_t row_bytes_ = 0;
  std::uint8_t* to_ = nullptr;
};

/// Resizes rows, or converts them to [0, 1], as they arrive.
template <class Pixel>
class ResizedImage final : public RowSink {
 public:
  ResizedImage(RowResizer<Pixel>& resizer, ElementOutputs& outputs) : resizer_(resizer), outputs_(outputs) {}
  void begin(const ImageSize& size) override {
    const ImageSize to = resizer_.begin(size);
    const TensorType type{{to.height, to.width, to.channels}, dtype_of<Pixel>};
    resizer_.write_to(reinterpret_cast<Pixel*>(outputs_.place(0, type)));
  }
  std::uint8_t* place() override { return resizer_.place(); }
  void done() override { resizer_.done(); }

 private:
  RowResizer<Pixel>& resizer_;
  ElementOutputs& outputs_;
};

class DecodeImageRunner final : public ElementRunner {
 public:
  explicit DecodeImageRunner(const DecodeOptions& options)
      : options_(options), bytes_(options.size, options.filter), floats_(options.size, options.filter) {}

  void run(const ElementBlock& elements, ElementOutputs& outputs) override {
    const std::span<const std::byte> file = bytes_of(elements.inputs.front());
    if (options_.dtype == Dtype::f32) {
      ResizedImage<float> sink(floats_, outputs);
      decode(file, sink);
    } else if (options_.size) {
      ResizedImage<std::uint8_t> sink(bytes_, outputs);
      decode(file, sink);
    } else {
      WholeImage sink(outputs);
      decode(file, sink);
    }
    pass_others(elements.inputs, outputs, 1);
  }

 private:
  void decode(std::span<const std::byte> file, RowSink& sink) {
    if (is_jpeg(file)) {
      jpeg_.decode(
          file, options_.channels, [this](const ImageSize& full) { return ratio_for(full); }, sink);
    } else if (is_png(file)) {
      if (!options_.size && options_.ratio.value_or(1) != 1) {
        throw Error("decode: a ratio is for JPEG images, and this is a PNG; a size is for both");
      }
      decode_png(file, options_.channels, sink);
    } else {
      throw Error(fmt::format("decode: {} bytes that are neither a JPEG nor a PNG image", file.size()));
    }
  }

  int ratio_for(const ImageSize& full) const {
    if (options_.ratio || !options_.size) return options_.ratio.value_or(1);
    const auto [height, width] = *options_.size;
    for (const int ratio : {8, 4, 2}) {
      if ((full.height + ratio - 1) / ratio >= height && (full.width + ratio - 1) / ratio >= width) return ratio;
    }
    return 1;
  }

  DecodeOptions options_;
  JpegDecoder jpeg_;
  RowResizer<std::uint8_t> bytes_;
  RowResizer<float> floats_;
};

class DecodeImage final : public ElementFunction {
 public:
  explicit DecodeImage(const DecodeOptions& options) : options_(options) {}
  std::vector<TensorType> output_types(TensorTypes inputs) const override {
    TensorType image{{varying, varying, options_.channels == 0 ? varying : options_.channels}, options_.dtype};
    if (options_.size) std::copy_n(options_.size->begin(), 2, image.shape.begin());
    return with_others({image}, inputs, "decode");
  }
  bool takes_any_extents() const override { return true; }
  std::unique_ptr<ElementRunner> plan(TensorTypes /*inputs*/) const override {
    return std::make_unique<DecodeImageRunner>(options_);
  }

 private:
  DecodeOptions options_;
};

/// Memory for an image of this size, and for the resizer's tables of rows and columns.
double bytes_needed(const DecodeOptions& options) {
  constexpr double bytes_of_a_tap = 24;
  const auto height = static_cast<double>((*options.size)[0]);
  const auto width = static_cast<double>((*options.size)[1]);
  const double channels = options.channels == 1 ? 1 : 3;
  return height * width * channels * static_cast<double>(size_of(options.dtype)) + bytes_of_a_tap * (height + width);
}

void check_size(const DecodeOptions& options) {
  const auto [height, width] = *options.size;
  if (height < 1 || width < 1) {
    throw Error(fmt::format("decode: a size of {} x {}; at least 1 x 1 is needed", height, width));
  }
  const double needed = bytes_needed(options);
  const auto free = static_cast<double>(free_memory());
  if (needed <= free) return;
  throw Error(fmt::format("decode: an image of {} x {} needs {}, more than the free memory, {}", height, width,
                          format_bytes(needed), format_bytes(free)));
}

}  // namespace

std::shared_ptr<const ElementFunction> decode_image(const DecodeOptions& options) {
  if (options.channels != 0 && options.channels != 1 && options.channels != 3) {
    throw Error(fmt::format("decode: channels = {} cannot be; 1 is grey, 3 is RGB, 0 is as the file has them",
                            options.channels));
  }
  if (options.dtype != Dtype::u8 && options.dtype != Dtype::f32) {
    throw Error(fmt::format("decode: images of {} cannot be (known: uint8, float32)", to_string(options.dtype)));
  }
  if (options.size) check_size(options);
  const int ratio = options.ratio.value_or(1);
  if (ratio != 1 && ratio != 2 && ratio != 4 && ratio != 8) {
    throw Error(fmt::format("decode: a ratio of {} cannot be (known: 1, 2, 4, 8)", ratio));
  }
  return std::make_shared<DecodeImage>(options);
}

}  // namespace gpubench
