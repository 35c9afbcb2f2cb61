#include "core/codec/gzip_writer.h"

#include <algorithm>
#include <array>
#include <zlib.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr std::size_t chunk = std::size_t{64} << 10;

}  // namespace

struct GzipWriter::State {
  z_stream stream{};
  std::array<std::byte, chunk> output;
};

GzipWriter::GzipWriter(OutputFile& file) : file_(file), state_(std::make_unique<State>()) {
  constexpr int gzip_window = 15 + 16;
  constexpr int default_memory = 8;
  if (deflateInit2(&state_->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, default_memory,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw OutOfMemory("zlib: no memory to deflate");
  }
}

GzipWriter::~GzipWriter() {
  deflateEnd(&state_->stream);
}

void GzipWriter::run(std::span<const std::byte> bytes, int flush) {
  z_stream& stream = state_->stream;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  do {
    stream.next_out = reinterpret_cast<Bytef*>(state_->output.data());
    stream.avail_out = static_cast<uInt>(chunk);
    deflate(&stream, flush);
    file_.write(std::span(state_->output).first(chunk - stream.avail_out));
  } while (stream.avail_out == 0);
}

void GzipWriter::write(std::span<const std::byte> bytes) {
  constexpr std::size_t most = std::size_t{1} << 30;  // zlib counts in 32 bits
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), most);
    run(bytes.first(count), Z_NO_FLUSH);
    bytes = bytes.subspan(count);
  }
}

void GzipWriter::finish() {
  run({}, Z_FINISH);
}

}  // namespace gpubench
