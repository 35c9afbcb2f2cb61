// PNG decoding by libpng, row by row: 8 bits a channel, palettes converted to colours.
#pragma once
#include <cstddef>
#include <span>

#include "core/codec/image_rows.h"

namespace gpubench {

bool is_png(std::span<const std::byte> bytes);

/// `channels`: 1 (grey, with the luminance weights of JPEG) or 3 (RGB), both without transparency; 0: as in the file, 1
/// to 4. Throws Error for damaged data, with the number of complete rows.
void decode_png(std::span<const std::byte> bytes, int channels, RowSink& sink);

}  // namespace gpubench
