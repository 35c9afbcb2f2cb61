// Images of other extents, and mirrored ones: resizing, crops, padding. Named after tf.image.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <utility>

#include "core/base/error.h"
#include "core/ops/check.h"
#include "core/ops/resize.h"
#include "core/ops/shape_ops.h"
#include "lua/api/tensor/image_graph.h"

namespace gpubench::lua {
namespace {

void require_image_rank(std::string_view what, const TensorType& images) {
  if (images.rank() >= 3 && images.dtype != Dtype::bytes) return;
  ops::refuse(what, fmt::format("takes images [batch, height, width, channels] or one [height, width, channels], got "
                                "{}",
                                to_string(images)));
}

/// Dimension -3 or -2 of images.
template <std::int64_t Axis>
Tensor mirrored(lua_State* L, const Tensor& images) {
  require_image_rank(Axis == -2 ? "flip_left_right" : "flip_up_down", images.type());
  return world_of(L).dispatcher.apply_one(std::make_shared<const Reverse>(std::vector<std::int64_t>{Axis}),
                                          std::array{images});
}

struct ImageBox {
  std::int64_t top = 0, left = 0, height = 0, width = 0;
};

Tensor cropped(lua_State* L, const Tensor& images, const ImageBox& box) {
  const std::size_t rank = images.type().shape.size();
  SliceRange range{Shape(rank, 0), Shape(rank, SliceRange::to_end), {}};
  range.begin[rank - 3] = box.top;
  range.begin[rank - 2] = box.left;
  range.end[rank - 3] = box.top + box.height;
  range.end[rank - 2] = box.left + box.width;
  return world_of(L).dispatcher.apply_one(std::make_shared<const Slice>(std::move(range)), std::array{images});
}

/// Between zeros; the box is that of the larger image in which the images lie.
Tensor surrounded(lua_State* L, const Tensor& images, const ImageBox& box) {
  const ImageExtents of = image_extents(images.type().shape);
  if (box.height == of.height && box.width == of.width) return images;
  const std::size_t rank = images.type().shape.size();
  Shape before(rank, 0), after(rank, 0);
  before[rank - 3] = box.top;
  before[rank - 2] = box.left;
  after[rank - 3] = box.height - of.height - box.top;
  after[rank - 2] = box.width - of.width - box.left;
  return apply_built(L, {images},
                     [&](Graph& graph, const auto& inputs) { return ops::pad(graph, inputs[0], before, after); });
}

/// Throws unless a part of `size` from `offset` on lies within `whole`.
void require_within(std::string_view what, const char* side, std::int64_t offset, std::int64_t size,
                    std::int64_t whole) {
  if (offset >= 0 && size >= 1 && whole >= size && offset <= whole - size) return;
  ops::refuse(what, fmt::format("{} {} from offset {} on do not lie within {}", size, side, offset, whole));
}

Tensor crop_to_bounding_box(lua_State* L, const Tensor& images, std::int64_t offset_height, std::int64_t offset_width,
                            std::int64_t target_height, std::int64_t target_width) {
  constexpr std::string_view what = "crop_to_bounding_box";
  require_image_rank(what, images.type());
  const ImageExtents of = image_extents(images.type().shape);
  require_within(what, "rows", offset_height, target_height, of.height);
  require_within(what, "columns", offset_width, target_width, of.width);
  return cropped(L, images, {offset_height, offset_width, target_height, target_width});
}

Tensor pad_to_bounding_box(lua_State* L, const Tensor& images, std::int64_t offset_height, std::int64_t offset_width,
                           std::int64_t target_height, std::int64_t target_width) {
  constexpr std::string_view what = "pad_to_bounding_box";
  require_image_rank(what, images.type());
  const ImageExtents of = image_extents(images.type().shape);
  require_within(what, "rows", offset_height, of.height, target_height);
  require_within(what, "columns", offset_width, of.width, target_width);
  return surrounded(L, images, {offset_height, offset_width, target_height, target_width});
}

Tensor central_crop(lua_State* L, const Tensor& images, double central_fraction) {
  require_image_rank("central_crop", images.type());
  if (!(central_fraction > 0 && central_fraction <= 1)) {
    ops::refuse("central_crop",
                fmt::format("central_fraction must be above 0 and at most 1, got {}", central_fraction));
  }
  const ImageExtents of = image_extents(images.type().shape);
  const auto border = [&](std::int64_t extent) {
    const auto whole = static_cast<double>(extent);
    return static_cast<std::int64_t>((whole - whole * central_fraction) / 2);
  };
  const std::int64_t top = border(of.height), left = border(of.width);
  return cropped(L, images, {top, left, of.height - 2 * top, of.width - 2 * left});
}

void require_target(std::string_view what, std::int64_t height, std::int64_t width) {
  if (height >= 1 && width >= 1) return;
  ops::refuse(what, fmt::format("height and width must be at least 1, got {} and {}", height, width));
}

Tensor resize_with_crop_or_pad(lua_State* L, const Tensor& images, std::int64_t target_height,
                               std::int64_t target_width) {
  constexpr std::string_view what = "resize_with_crop_or_pad";
  require_image_rank(what, images.type());
  require_target(what, target_height, target_width);
  const ImageExtents of = image_extents(images.type().shape);
  const auto cut = [](std::int64_t from, std::int64_t to) { return from > to ? (from - to) / 2 : 0; };
  const Tensor inner = cropped(L, images,
                               {cut(of.height, target_height), cut(of.width, target_width),
                                std::min(of.height, target_height), std::min(of.width, target_width)});
  return surrounded(L, inner,
                    {cut(target_height, of.height), cut(target_width, of.width), target_height, target_width});
}

struct ResizeOptions {
  std::string method = "bilinear";
  bool preserve_aspect_ratio = false;
  bool antialias = false;
  static constexpr auto fields = std::tuple{field("method", &ResizeOptions::method),
                                            field("preserve_aspect_ratio", &ResizeOptions::preserve_aspect_ratio),
                                            field("antialias", &ResizeOptions::antialias)};
};

Tensor resized(lua_State* L, const Tensor& images, std::int64_t height, std::int64_t width, const std::string& method,
               bool antialias) {
  const ResizeMethod by = parse_resize_method(method);
  return apply_built(L, {images}, [&](Graph& graph, const auto& inputs) {
    return ops::resize_images(graph, inputs[0], height, width, by, antialias);
  });
}

Tensor resize(lua_State* L, const Tensor& images, const std::vector<std::int64_t>& size, const ResizeOptions& options) {
  if (size.size() != 2) throw ArgumentError("the size must be {height, width}");
  std::int64_t height = size[0], width = size[1];
  if (options.preserve_aspect_ratio) {
    require_image_rank("resize", images.type());
    require_target("resize", height, width);
    const ImageExtents of = image_extents(images.type().shape);
    const auto rows = static_cast<float>(of.height), columns = static_cast<float>(of.width);
    const float scale = std::min(static_cast<float>(height) / rows, static_cast<float>(width) / columns);
    height = std::max<std::int64_t>(1, std::llrint(scale * rows));
    width = std::max<std::int64_t>(1, std::llrint(scale * columns));
  }
  return resized(L, images, height, width, options.method, options.antialias);
}

struct ResizeWithPadOptions {
  std::string method = "bilinear";
  bool antialias = false;
  static constexpr auto fields =
      std::tuple{field("method", &ResizeWithPadOptions::method), field("antialias", &ResizeWithPadOptions::antialias)};
};

Tensor resize_with_pad(lua_State* L, const Tensor& images, std::int64_t target_height, std::int64_t target_width,
                       const ResizeWithPadOptions& options) {
  constexpr std::string_view what = "resize_with_pad";
  require_image_rank(what, images.type());
  require_target(what, target_height, target_width);
  const ImageExtents of = image_extents(images.type().shape);
  const auto rows = static_cast<float>(of.height), columns = static_cast<float>(of.width);
  const auto to_rows = static_cast<float>(target_height), to_columns = static_cast<float>(target_width);
  const float ratio = std::max(columns / to_columns, rows / to_rows);
  const auto whole = [](float x) { return std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(x))); };
  const Tensor inner = resized(L, images, std::max<std::int64_t>(1, whole(rows / ratio)),
                               std::max<std::int64_t>(1, whole(columns / ratio)), options.method, options.antialias);
  return surrounded(
      L, inner,
      {whole((to_rows - rows / ratio) / 2), whole((to_columns - columns / ratio) / 2), target_height, target_width});
}

}  // namespace

void add_image_extents(const Module& image) {
  image.function<&mirrored<-2>>("flip_left_right")
      .function<&mirrored<-3>>("flip_up_down")
      .function<&central_crop>("central_crop")
      .function<&crop_to_bounding_box>("crop_to_bounding_box")
      .function<&pad_to_bounding_box>("pad_to_bounding_box")
      .function<&resize>("resize")
      .function<&resize_with_crop_or_pad>("resize_with_crop_or_pad")
      .function<&resize_with_pad>("resize_with_pad");
}

}  // namespace gpubench::lua
