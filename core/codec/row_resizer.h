// Resizes an image while its rows arrive: only two source rows are in memory. Pixel centres are at half-integers, as in
// gb.image.resize and in tf.image.resize without antialiasing.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/codec/image_rows.h"

namespace gpubench {

enum class ResizeFilter { bilinear, nearest };

/// Resizes into memory of `Pixel`: uint8_t (rounded) or float (0 to 1).
template <class Pixel>
class RowResizer {
 public:
  /// `size`: height and width of the result; unset: images keep their size.
  RowResizer(std::optional<std::array<std::int64_t, 2>> size, ResizeFilter filter) : wanted_(size), filter_(filter) {}

  /// Starts an image of this size; its rows then go through place() and done(). Returns the size of the result; call
  /// write_to() with its memory next.
  ImageSize begin(const ImageSize& size);
  void write_to(Pixel* pixels) { pixels_ = pixels; }
  std::uint8_t* place() { return rows_[arrived_ % 2].data(); }
  void done();

 private:
  /// For a result pixel along one dimension: its two source pixels and their weights.
  struct Tap {
    std::int64_t lower, upper;
    float share;  ///< weight of the upper one
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
  std::array<std::vector<std::uint8_t>, 2> rows_;  ///< the last two, indexed by the parity of their row number
  std::vector<float> mixed_;                       ///< blend of two source rows
  std::vector<float> line_;                        ///< row of the result
  std::size_t arrived_ = 0;
  std::int64_t written_ = 0;
};

}  // namespace gpubench
