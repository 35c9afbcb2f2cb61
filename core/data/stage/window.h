// Stacks windows of consecutive elements along a new first dimension. Windows may overlap: sequences of a text, or
// steps of a time series. Unlike a batch, a window is one example.
//
//   window(byte_tokens({"book.txt"}), {.size = 129, .shift = 128, .drop_remainder = true})  // uint8[129]
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

struct WindowOptions {
  std::int64_t size = 0;        ///< elements of a window
  std::int64_t shift = 0;       ///< elements from the start of a window to the start of the next
  std::int64_t stride = 1;      ///< elements from one of a window to the next
  bool drop_remainder = false;  ///< drop the last windows, which have fewer elements
};

/// Throws Error if an option is below 1, and if no window is left.
DatasetPtr window(DatasetPtr source, const WindowOptions& options);

}  // namespace gpubench
