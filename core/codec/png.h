// PNG images by libpng, row by row: 8 bits a channel, palettes as colours.
#pragma once
#include <cstddef>
#include <span>

#include "core/codec/image_rows.h"

namespace gpubench {

bool is_png(std::span<const std::byte> bytes);

/// `channels`: 1 (grey: the weights of JPEG's luminance), 3 (RGB), both without transparency; 0: as the file has it, 1
/// to
/// 4. Throws Error for damaged data, with the number of rows that were complete.
void decode_png(std::span<const std::byte> bytes, int channels, RowSink& sink);

}  // namespace gpubench
