#include "core/codec/row_resizer.h"

#include <algorithm>
#include <cstring>

namespace gpubench {
namespace {

void store(const float* __restrict values, std::size_t count, std::uint8_t* __restrict to) {
  // Mixtures of bytes stay within 0 and 255.
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<std::uint8_t>(static_cast<int>(values[i] + 0.5F));
}
void store(const float* __restrict values, std::size_t count, float* __restrict to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = values[i] * (1.0F / 255.0F);
}

/// A row of mixed pixels along the width.
template <std::int64_t channels, class Tap>
void mix_columns(const float* row, const std::vector<Tap>& taps, float* to) {
  for (const Tap& tap : taps) {
    const float* const lower = row + tap.lower * channels;
    const float* const upper = row + tap.upper * channels;
    for (std::int64_t c = 0; c < channels; ++c) *to++ = lower[c] + (upper[c] - lower[c]) * tap.share;
  }
}

/// Colours by four numbers at a time, of which the last is the next pixel's and is overwritten by it: a third of the
/// time. Both rows have room for one number more.
template <class Tap>
void mix_colours(const float* row, const std::vector<Tap>& taps, float* to) {
  using Four = float __attribute__((vector_size(4 * sizeof(float))));
  constexpr std::int64_t channels = 3;
  for (const Tap& tap : taps) {
    Four lower, upper;
    std::memcpy(&lower, row + tap.lower * channels, sizeof(Four));
    std::memcpy(&upper, row + tap.upper * channels, sizeof(Four));
    const Four mixed = lower + (upper - lower) * tap.share;
    std::memcpy(to, &mixed, sizeof(Four));
    to += channels;
  }
}

}  // namespace

template <class Pixel>
std::vector<typename RowResizer<Pixel>::Tap> RowResizer<Pixel>::taps(std::int64_t to, std::int64_t from,
                                                                     ResizeFilter filter) {
  std::vector<Tap> taps(static_cast<std::size_t>(to));
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  for (std::size_t i = 0; i < taps.size(); ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    if (filter == ResizeFilter::nearest) {
      const std::int64_t at = std::min(static_cast<std::int64_t>(centre), from - 1);
      taps[i] = {at, at, 0.0F};
      continue;
    }
    const double at = std::clamp(centre - 0.5, 0.0, static_cast<double>(from - 1));
    const auto lower = static_cast<std::int64_t>(at);
    taps[i] = {lower, std::min(lower + 1, from - 1), static_cast<float>(at - static_cast<double>(lower))};
  }
  return taps;
}

template <class Pixel>
ImageSize RowResizer<Pixel>::begin(const ImageSize& size) {
  arrived_ = 0;
  written_ = 0;
  if (size == size_) return result_;
  size_ = size;
  result_ = wanted_ ? ImageSize{(*wanted_)[0], (*wanted_)[1], size.channels} : size;
  vertical_ = taps(result_.height, size.height, filter_);
  horizontal_ = taps(result_.width, size.width, filter_);
  for (std::vector<std::uint8_t>& row : rows_) row.resize(size.row_bytes());
  mixed_.resize(size.row_bytes() + 1);
  line_.resize(result_.row_bytes() + 1);
  return result_;
}

template <class Pixel>
void RowResizer<Pixel>::mix_rows(const Tap& tap) {
  const std::uint8_t* const __restrict lower = rows_[static_cast<std::size_t>(tap.lower % 2)].data();
  const std::uint8_t* const __restrict upper = rows_[static_cast<std::size_t>(tap.upper % 2)].data();
  float* const __restrict to = mixed_.data();
  const std::size_t count = size_.row_bytes();
  const float share = tap.share;
  for (std::size_t i = 0; i < count; ++i) {
    const float value = lower[i];
    to[i] = value + (static_cast<float>(upper[i]) - value) * share;
  }
}

template <class Pixel>
void RowResizer<Pixel>::write_row() {
  using Mix = void (*)(const float*, const std::vector<Tap>&, float*);
  constexpr std::array<Mix, 4> by_channels{&mix_columns<1, Tap>, &mix_columns<2, Tap>, &mix_colours<Tap>,
                                           &mix_columns<4, Tap>};
  by_channels[static_cast<std::size_t>(size_.channels - 1)](mixed_.data(), horizontal_, line_.data());
  store(line_.data(), result_.row_bytes(), pixels_ + static_cast<std::size_t>(written_) * result_.row_bytes());
}

template <class Pixel>
void RowResizer<Pixel>::done() {
  const auto last = static_cast<std::int64_t>(arrived_++);
  while (written_ < result_.height && vertical_[static_cast<std::size_t>(written_)].upper <= last) {
    mix_rows(vertical_[static_cast<std::size_t>(written_)]);
    write_row();
    ++written_;
  }
}

template class RowResizer<std::uint8_t>;
template class RowResizer<float>;

}  // namespace gpubench
