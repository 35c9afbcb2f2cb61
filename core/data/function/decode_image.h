// JPEG and PNG images as tensors [height, width, channels], optionally resized while they are decoded.
//
//   map(map(list_files({"digits/*.jpg"}), read_file()), decode_image({.channels = 3, .size = {{224, 224}}}))
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/codec/row_resizer.h"
#include "core/data/function/element_function.h"

namespace gpubench {

struct DecodeOptions {
  int channels = 0;                                      ///< 1 (grey), 3 (RGB) or 0: as in the file
  std::optional<std::array<std::int64_t, 2>> size = {};  ///< height and width; else each image's own
  ResizeFilter filter = ResizeFilter::bilinear;
  Dtype dtype = Dtype::u8;  ///< u8, or f32 in [0, 1]
  /// Divisor of a JPEG's size during decoding: 1, 2, 4 or 8. Absent: the largest that leaves at least `size` pixels, or
  /// 1 without a size.
  std::optional<int> ratio = {};
};

/// (uint8[?] file, ...) -> (image, ...). Throws Error for impossible options; its elements throw for files that are no
/// image or are damaged.
std::shared_ptr<const ElementFunction> decode_image(const DecodeOptions& options);

}  // namespace gpubench
