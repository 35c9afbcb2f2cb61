#include "core/codec/output_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr std::size_t gzip_chunk = std::size_t{64} << 10;

}  // namespace

OutputFile::OutputFile(std::filesystem::path path)
    : path_(std::move(path)), partial_(fmt::format("{}.{}.{}.partial", path_.string(), ::getpid(), fmt::ptr(this))) {
  constexpr mode_t everyone = 0666;  // less the umask
  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, everyone);
  if (descriptor_ >= 0) return;
  descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, everyone);
  if (descriptor_ < 0) fail();
  named_ = true;
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (named_) ::unlink(partial_.c_str());
}

void OutputFile::fail() const {
  throw Error(fmt::format("{}: cannot be written: {}", path_.string(), std::strerror(errno)));
}

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail();
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void OutputFile::commit() {
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail();
  if (!named_) {
    const std::string unnamed = fmt::format("/proc/self/fd/{}", descriptor_);
    if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, partial_.c_str(), AT_SYMLINK_FOLLOW) != 0) fail();
    named_ = true;  // only for a moment: no link can take the place of an earlier file
  }
  if (::rename(partial_.c_str(), path_.c_str()) != 0) fail();
  ::close(descriptor_);
  descriptor_ = -1;
}

struct GzipWriter::State {
  z_stream stream{};
  std::array<std::byte, gzip_chunk> output;
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
    stream.avail_out = static_cast<uInt>(gzip_chunk);
    deflate(&stream, flush);
    file_.write(std::span(state_->output).first(gzip_chunk - stream.avail_out));
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
