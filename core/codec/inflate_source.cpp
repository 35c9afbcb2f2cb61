#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <zlib.h>

#include "core/base/error.h"
#include "core/codec/byte_source.h"

namespace gpubench {
namespace {

constexpr std::size_t chunk = std::size_t{64} << 10;
/// Deflate's densest code: 258 bytes for 2 bits.
constexpr std::uint64_t densest = 1032;
constexpr int largest_window = 15, gzip_header = 16;
/// Data unpacks to some ten times its size. More than that is read as long as it is not much.
constexpr std::uint64_t usual_ratio = 100;
constexpr std::uint64_t always_read = std::uint64_t{1} << 30;

}  // namespace

struct InflateSource::State {
  z_stream stream{};
  std::array<std::byte, chunk> input;
  bool ended = false;
};

InflateSource::InflateSource(std::unique_ptr<ByteSource> compressed)
    : ByteSource(compressed->name()), compressed_(std::move(compressed)), state_(std::make_unique<State>()) {
  if (inflateInit2(&state_->stream, largest_window + gzip_header) != Z_OK)
    throw OutOfMemory("zlib: no memory to inflate");
}

InflateSource::~InflateSource() {
  inflateEnd(&state_->stream);
}

void InflateSource::refill() {
  z_stream& stream = state_->stream;
  if (stream.avail_in != 0) return;
  stream.next_in = reinterpret_cast<Bytef*>(state_->input.data());
  stream.avail_in = static_cast<uInt>(compressed_->read_some(state_->input));
}

void InflateSource::finish_member() {
  z_stream& stream = state_->stream;
  refill();
  if (stream.avail_in == 0) {
    state_->ended = true;
    return;
  }
  constexpr Bytef gzip_first_byte = 0x1f;
  if (*stream.next_in != gzip_first_byte) {
    throw Error(fmt::format("{}: bytes follow after the end of the compressed data", name()));
  }
  inflateReset(&stream);
}

std::size_t InflateSource::read_some(std::span<std::byte> to) {
  z_stream& stream = state_->stream;
  const auto wanted = static_cast<uInt>(std::min<std::size_t>(to.size(), std::size_t{1} << 30));
  stream.next_out = reinterpret_cast<Bytef*>(to.data());
  stream.avail_out = wanted;
  while (stream.avail_out == wanted && wanted > 0 && !state_->ended) {
    refill();
    if (stream.avail_in == 0) throw Error(fmt::format("{}: the compressed data is cut short", name()));
    const int status = inflate(&stream, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      finish_member();
    } else if (status != Z_OK) {
      throw Error(fmt::format("{}: the compressed data is damaged: {}", name(),
                              stream.msg == nullptr ? zError(status) : stream.msg));
    }
  }
  return wanted - stream.avail_out;
}

std::uint64_t InflateSource::left_at_most() const {
  if (state_->ended) return 0;
  // The decoder may hold back what it has read already: a window, and a symbol half written.
  constexpr std::uint64_t held_back = std::uint64_t{1} << largest_window;
  const std::uint64_t compressed = compressed_->left_at_most() + state_->stream.avail_in + sizeof(std::uint64_t);
  return compressed > UINT64_MAX / densest - held_back ? UINT64_MAX : compressed * densest + held_back;
}

std::uint64_t InflateSource::most_at_once() const {
  const std::uint64_t compressed = compressed_->left_at_most() + state_->stream.avail_in;
  return std::max(always_read, compressed > UINT64_MAX / usual_ratio ? UINT64_MAX : compressed * usual_ratio);
}

}  // namespace gpubench
