#include "core/codec/output_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <string>
#include <unistd.h>
#include <zlib.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr std::size_t gzip_chunk = std::size_t{64} << 10;

constexpr mode_t everyone = 0666;  // less the umask

// Without a name. Fails where the file system has no such files, or where no name could be given to it later.
Descriptor open_unnamed(const std::filesystem::path& path) {
  if (::access("/proc/self/fd", F_OK) != 0) return Descriptor();
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  return Descriptor(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, everyone));
}

}  // namespace

OutputFile::OutputFile(std::filesystem::path path) : path_(std::move(path)) {
  refuse_other_than(std::filesystem::file_type::regular, path_);
  descriptor_ = open_unnamed(path_);
  if (descriptor_) {
    descriptor_.lock();
    return;
  }
  temporary_ = take_temporary_name(path_, [&](const std::filesystem::path& name) {
    descriptor_ = Descriptor(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, everyone));
    if (!descriptor_) return false;
    descriptor_.lock();
    if (descriptor_.is_at(name)) return true;
    errno = EEXIST;  // a program that looked for left-overs removed it before the lock was there
    return false;
  });
}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::fail() const {
  fail_to_write(path_, errno);
}

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_.number(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail();
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

// A disk may turn out to be full only here. Some file systems cannot synchronize, which is no failure.
void OutputFile::sync() const {
  if (::fdatasync(descriptor_.number()) != 0 && errno != EINVAL && errno != EROFS) fail();
}

bool OutputFile::give_name(const std::filesystem::path& name) const {
  const std::string unnamed = fmt::format("/proc/self/fd/{}", descriptor_.number());
  return ::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

void OutputFile::commit() {
  sync();
  // Only for a moment: no link can take the place of an earlier file.
  if (temporary_.empty()) temporary_ = take_temporary_name(path_, [&](const auto& name) { return give_name(name); });
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail();
  temporary_.clear();
  descriptor_ = Descriptor();
}

bool OutputFile::commit_new() {
  sync();
  // A second name is as good as a new one: the destructor removes the first.
  const bool done = temporary_.empty() ? give_name(path_) : ::link(temporary_.c_str(), path_.c_str()) == 0;
  if (!done && errno != EEXIST) fail();
  return done;
}

void replace_file(const std::filesystem::path& path, std::string_view text) {
  OutputFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
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
