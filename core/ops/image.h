// Augmentation and resizing of images [batch, height, width, channels], with the names and semantics of tf.image; a
// single image may omit the batch. Random decisions are made per image: image i of a batch draws in step s what image 0
// draws in step s + i, so that results do not depend on batching. Changes of the brightness range are made of
// element-wise ops, so that they can be fused.
#pragma once
#include <span>

#include "core/graph/graph.h"
#include "core/graph/op.h"
#include "core/ops/random.h"

namespace gpubench {

/// Images as one batch, for any number of dimensions before the last three.
struct ImageExtents {
  std::int64_t images, height, width, channels;
};
ImageExtents image_extents(const Shape& shape);

/// images, step -> images; any number of dimensions before the last three.
class RandomImageOp : public RandomOp {
 public:
  std::optional<BlockForm> block_form(std::span<const BlockInput> inputs, std::int64_t count) const final;
};

/// images, step int64[] (or int64[k]: one per part along the first dimension) -> images, mirrored with probability 1/2.
/// Any type but bytes.
class RandomFlipLeftRight final : public RandomImageOp {
 public:
  explicit RandomFlipLeftRight(std::uint64_t of) : seed(of) {}
  std::string_view name() const override { return "random_flip_left_right"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  double flops(TensorTypes, TensorTypes) const override { return 0; }

  const std::uint64_t seed;
};

/// images, step -> images plus a random number in [-max_delta, max_delta), in units of the brightest uint8 pixel.
/// Floating types, and uint8, which saturates.
class RandomBrightness final : public RandomImageOp {
 public:
  /// Throws Error for a negative `delta`.
  RandomBrightness(double delta, std::uint64_t of);
  std::string_view name() const override { return "random_brightness"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::may_overwrite}}; }

  const double max_delta;
  const std::uint64_t seed;
};

/// images, step -> (x - mean) * factor + mean, with the mean of each channel of an image and a random factor in [lower,
/// upper). Floating types, and uint8, which saturates.
class RandomContrast final : public RandomImageOp {
 public:
  /// 0 <= from <= to; throws Error otherwise.
  RandomContrast(double from, double to, std::uint64_t of);
  std::string_view name() const override { return "random_contrast"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  /// The linear map is symmetric, so it is its own gradient.
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::may_overwrite}}; }
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const double lower, upper;
  const std::uint64_t seed;
};

/// images, step -> [batch, height, width, channels], cropped at a random position for each image. Any type but bytes.
/// No gradient.
class RandomCrop final : public RandomImageOp {
 public:
  RandomCrop(std::int64_t rows, std::int64_t columns, std::uint64_t of) : height(rows), width(columns), seed(of) {}
  std::string_view name() const override { return "random_crop"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  double flops(TensorTypes, TensorTypes) const override { return 0; }
  double bytes(TensorTypes inputs, TensorTypes outputs) const override;

  const std::int64_t height, width;
  const std::uint64_t seed;
};

/// ResizeImages has bilinear and nearest; ops::resize_images() has all.
enum class ResizeMethod : std::uint8_t {
  bilinear,
  nearest,
  bicubic,
  area,
  lanczos3,
  lanczos5,
  gaussian,
  mitchellcubic
};
std::string_view to_string(ResizeMethod method);
/// Throws Error listing the names.
ResizeMethod parse_resize_method(std::string_view name);

/// images -> [batch, height, width, channels]: bilinear in float32 from floating types and uint8, nearest in the
/// images' type. Pixel centres are at half-integers; there is no low-pass filter.
class ResizeImages final : public Op {
 public:
  ResizeImages(std::int64_t rows, std::int64_t columns, ResizeMethod by) : height(rows), width(columns), method(by) {}
  std::string_view name() const override { return "resize_images"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  double flops(TensorTypes inputs, TensorTypes outputs) const override;
  std::optional<BlockForm> block_form(std::span<const BlockInput> inputs, std::int64_t count) const override;

  const std::int64_t height, width;
  const ResizeMethod method;
};

namespace ops {

/// (x - mean) / stddev of images [..., channels], in float32 unless they have another floating type. `mean` and
/// `stddev` have one number, or one per channel. Throws Error for other counts, and for deviations that are not
/// positive.
Value normalize_images(Graph& graph, Value images, std::span<const float> mean, std::span<const float> stddev);

/// Converts images to another type as tf.image.convert_image_dtype: the brightest uint8 pixel, 255, is 1 in floating
/// types; saturates. Throws Error for other types.
Value convert_images(Graph& graph, Value images, Dtype dtype);

}  // namespace ops
}  // namespace gpubench
