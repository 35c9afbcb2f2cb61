// Resizes an image while its rows arrive: two source rows are in memory, never the image. Pixels' centres lie at
// halves, as in gb.image.resize and tf.image.resize without antialiasing.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/codec/image_rows.h"

namespace gpubench {

enum class ResizeFilter { bilinear, nearest };

/// Where the rows of the result go. `Pixel` is uint8_t (rounded) or float (0 to 1).
template <class Pixel>
class RowResizer {
 public:
  /// To this height and width; without them images keep their size.
  RowResizer(std::optional<std::array<std::int64_t, 2>> size, ResizeFilter filter) : wanted_(size), filter_(filter) {}

  /// For an image of this size, which row by row goes through place() and done(). Returns the size of the result; call
  /// write_to() with its memory next.
  ImageSize begin(const ImageSize& size);
  void write_to(Pixel* pixels) { pixels_ = pixels; }
  std::uint8_t* place() { return rows_[arrived_ % 2].data(); }
  void done();

 private:
  /// The place of a pixel of the result among those of the source, along one dimension.
  struct Tap {
    std::int64_t lower, upper;
    float share;  ///< of the upper one
  };
  static std::vector<Tap> taps(std::int64_t to, std::int64_t from, ResizeFilter filter);
  void mix_rows(const Tap& tap);
  void write_row();

  std::optional<std::array<std::int64_t, 2>> wanted_;
  ResizeFilter filter_;
  Pixel* pixels_ = nullptr;
  ImageSize size_;  ///< of the source
  ImageSize result_;
  std::vector<Tap> vertical_;
  std::vector<Tap> horizontal_;
  std::array<std::vector<std::uint8_t>, 2> rows_;  ///< the last two, by the parity of their number
  std::vector<float> mixed_;                       ///< of two source rows
  std::vector<float> line_;                        ///< of the result
  std::size_t arrived_ = 0;
  std::int64_t written_ = 0;
};

}  // namespace gpubench
