#include "core/ops/image.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>

#include "core/base/enum_names.h"
#include "core/ops/cast.h"
#include "core/ops/check.h"
#include "core/ops/elementwise.h"
#include "core/ops/resize.h"

namespace gpubench {
namespace {

/// A block of batches.
constexpr int most_image_rank = 5;

void expect_images(std::string_view op, const TensorType& images) {
  if (images.dtype == Dtype::bytes) ops::refuse(op, "images are tensors of numbers, got bytes; decode them first");
  if (images.rank() >= 3 && images.rank() <= most_image_rank) return;
  ops::refuse(op, fmt::format("takes images [batch, height, width, channels] or one [height, width, channels], got {}",
                              to_string(images)));
}

bool fits_a_block(const BlockInput& images) {
  return images.element.rank() < most_image_rank;
}

/// For ops that compute with pixels.
void expect_brightness(std::string_view op, const TensorType& images) {
  if (is_floating(images.dtype) || images.dtype == Dtype::u8) return;
  ops::refuse(op, fmt::format("images are of a floating type or uint8, got {}", to_string(images)));
}

void expect_random(std::string_view op, TensorTypes inputs) {
  ops::expect_count(op, inputs, 2);
  expect_images(op, inputs[0]);
  ops::expect_step(op, inputs[1], inputs[0].rank() == 3 ? Shape{} : inputs[0].shape);
}

void expect_extents(std::string_view op, std::int64_t height, std::int64_t width) {
  if (height > 0 && width > 0) return;
  ops::refuse(op, fmt::format("height and width must be at least 1, got {} and {}", height, width));
}

/// The op itself, applied to the gradient with the numbers of the same step.
template <class O>
std::vector<Value> same_again(const O& op, Graph& graph, Values inputs, Value dy) {
  return {graph.apply(std::make_shared<const O>(op), {dy, inputs[1]}), Value{}};
}

/// The shape with images of other extents.
Shape with_size(Shape from, std::int64_t height, std::int64_t width) {
  from[from.size() - 3] = height;
  from[from.size() - 2] = width;
  return from;
}

constexpr EnumNames<ResizeMethod, 8> resize_methods{
    "resize_images: there is no method",
    {"bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"}};

constexpr float brightest_byte = 255;

/// A number, or one per channel of `images`.
Value per_channel(Graph& graph, const TensorType& images, std::string_view what, std::span<const float> numbers) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  if (images.rank() == 0 || (count != 1 && count != images.shape.back())) {
    ops::refuse("normalize",
                fmt::format("takes one {} or one for each channel, got {} for {}", what, count, to_string(images)));
  }
  const Value values = graph.constant(HostTensor::of<float>(count == 1 ? Shape{} : Shape{count}, numbers));
  return ops::cast(graph, values, images.dtype);
}

}  // namespace

ImageExtents image_extents(const Shape& shape) {
  const std::size_t rank = shape.size();
  std::int64_t images = 1;
  for (std::size_t i = 0; i + 3 < rank; ++i) images *= shape[i];
  return {images, shape[rank - 3], shape[rank - 2], shape[rank - 1]};
}

std::optional<BlockForm> RandomImageOp::block_form(std::span<const BlockInput> inputs, std::int64_t count) const {
  return fits_a_block(inputs[0]) ? RandomOp::block_form(inputs, count) : std::nullopt;
}

std::string RandomFlipLeftRight::attributes() const {
  return fmt::format("seed={}", seed);
}

std::vector<TensorType> RandomFlipLeftRight::infer(TensorTypes inputs) const {
  expect_random(name(), inputs);
  return {inputs[0]};
}

std::vector<Value> RandomFlipLeftRight::gradient(Graph& graph, Values inputs, Values, Values output_gradients) const {
  return same_again(*this, graph, inputs, output_gradients[0]);
}

RandomBrightness::RandomBrightness(double delta, std::uint64_t of) : max_delta(delta), seed(of) {
  if (!(delta >= 0)) ops::refuse(name(), fmt::format("max_delta must not be negative, got {}", delta));
}

std::string RandomBrightness::attributes() const {
  return fmt::format("max_delta={} seed={}", max_delta, seed);
}

std::vector<TensorType> RandomBrightness::infer(TensorTypes inputs) const {
  expect_random(name(), inputs);
  expect_brightness(name(), inputs[0]);
  return {inputs[0]};
}

std::vector<Value> RandomBrightness::gradient(Graph&, Values, Values, Values output_gradients) const {
  return {output_gradients[0], Value{}};
}

RandomContrast::RandomContrast(double from, double to, std::uint64_t of) : lower(from), upper(to), seed(of) {
  if (from >= 0 && to >= from) return;
  ops::refuse(name(), fmt::format("the factors must be 0 <= lower <= upper, got {} and {}", from, to));
}

std::string RandomContrast::attributes() const {
  return fmt::format("lower={} upper={} seed={}", lower, upper, seed);
}

std::vector<TensorType> RandomContrast::infer(TensorTypes inputs) const {
  expect_random(name(), inputs);
  expect_brightness(name(), inputs[0]);
  return {inputs[0]};
}

std::vector<Value> RandomContrast::gradient(Graph& graph, Values inputs, Values, Values output_gradients) const {
  return same_again(*this, graph, inputs, output_gradients[0]);
}

double RandomContrast::flops(TensorTypes, TensorTypes outputs) const {
  return 4.0 * static_cast<double>(outputs[0].elements());
}

std::string RandomCrop::attributes() const {
  return fmt::format("height={} width={} seed={}", height, width, seed);
}

std::vector<TensorType> RandomCrop::infer(TensorTypes inputs) const {
  expect_random(name(), inputs);
  expect_extents(name(), height, width);
  const ImageExtents from = image_extents(inputs[0].shape);
  if (height > from.height || width > from.width) {
    ops::refuse(name(), fmt::format("{} x {} does not fit into {}", height, width, to_string(inputs[0])));
  }
  return {{with_size(inputs[0].shape, height, width), inputs[0].dtype}};
}

double RandomCrop::bytes(TensorTypes, TensorTypes outputs) const {
  return 2.0 * static_cast<double>(outputs[0].bytes());
}

std::string_view to_string(ResizeMethod method) {
  return resize_methods[method];
}

ResizeMethod parse_resize_method(std::string_view name) {
  return resize_methods.parse(name);
}

std::string ResizeImages::attributes() const {
  return fmt::format("height={} width={} method={}", height, width, to_string(method));
}

std::vector<TensorType> ResizeImages::infer(TensorTypes inputs) const {
  ops::expect_count(name(), inputs, 1);
  expect_images(name(), inputs[0]);
  expect_extents(name(), height, width);
  if (method == ResizeMethod::bilinear) expect_brightness(name(), inputs[0]);
  const ImageExtents from = image_extents(inputs[0].shape);
  if (from.height == 0 || from.width == 0) ops::refuse(name(), fmt::format("{} has no pixels", to_string(inputs[0])));
  const Dtype dtype = method == ResizeMethod::bilinear ? Dtype::f32 : inputs[0].dtype;
  return {{with_size(inputs[0].shape, height, width), dtype}};
}

std::vector<Value> ResizeImages::gradient(Graph& graph, Values inputs, Values, Values output_gradients) const {
  const TensorType type = graph.type(inputs[0]);
  return {is_floating(type.dtype) ? ops::resize_gradient(graph, output_gradients[0], type, method) : Value{}};
}

std::optional<BlockForm> ResizeImages::block_form(std::span<const BlockInput> inputs, std::int64_t) const {
  return fits_a_block(inputs[0]) ? std::optional(BlockForm{}) : std::nullopt;
}

double ResizeImages::flops(TensorTypes, TensorTypes outputs) const {
  return method == ResizeMethod::nearest ? 0 : 9.0 * static_cast<double>(outputs[0].elements());
}

namespace ops {

Value normalize_images(Graph& graph, Value images, std::span<const float> mean, std::span<const float> stddev) {
  const auto is_positive = [](float deviation) { return deviation > 0; };
  if (!std::ranges::all_of(stddev, is_positive)) refuse("normalize", "standard deviations must be positive");
  if (!is_floating(graph.type(images).dtype)) images = cast(graph, images, Dtype::f32);
  const TensorType type = graph.type(images);
  const Value centered = sub(graph, images, per_channel(graph, type, "mean", mean));
  return div(graph, centered, per_channel(graph, type, "standard deviation", stddev));
}

Value convert_images(Graph& graph, Value images, Dtype dtype) {
  const TensorType type = graph.type(images);
  const auto is_brightness = [](Dtype of) { return is_floating(of) || of == Dtype::u8; };
  if (!is_brightness(type.dtype) || !is_brightness(dtype)) {
    refuse("cast", fmt::format("converts images of uint8 and of floating types, got {} to {}", to_string(type),
                               to_string(dtype)));
  }
  if (type.dtype == dtype) return images;
  if (is_floating(type.dtype) && is_floating(dtype)) return cast(graph, images, dtype);
  const Value pixels = cast(graph, images, Dtype::f32);
  if (is_floating(dtype)) return cast(graph, mul(graph, pixels, graph.constant(1 / brightest_byte)), dtype);
  // Adds half a step, because the cast truncates.
  const Value scaled = mul(graph, pixels, graph.constant(brightest_byte + 0.5F));
  const Value positive = maximum(graph, scaled, graph.constant(0.0F));
  return cast(graph, minimum(graph, positive, graph.constant(brightest_byte)), dtype);
}

}  // namespace ops
}  // namespace gpubench
