#include "core/codec/byte_source.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"

namespace gpubench {

static_assert(std::endian::native == std::endian::little, "the decoders assume a little-endian machine");

void ByteSource::read(std::span<std::byte> to, std::string_view what) {
  const std::uint64_t wanted = to.size();
  while (!to.empty()) {
    const std::size_t count = read_some(to);
    position_ += count;
    to = to.subspan(count);
    if (count == 0) {
      throw Error(fmt::format("{}: the file is cut short: {} needs {} bytes, {} of them are missing after byte {}",
                              name_, what, wanted, to.size(), position_));
    }
  }
}

template <class T>
T ByteSource::read_little(std::string_view what) {
  T value{};
  read(std::as_writable_bytes(std::span(&value, 1)), what);
  return value;
}

std::uint8_t ByteSource::read_u8(std::string_view what) {
  return read_little<std::uint8_t>(what);
}
std::uint16_t ByteSource::read_u16_little(std::string_view what) {
  return read_little<std::uint16_t>(what);
}
std::uint32_t ByteSource::read_u32_little(std::string_view what) {
  return read_little<std::uint32_t>(what);
}
std::uint64_t ByteSource::read_u64_little(std::string_view what) {
  return read_little<std::uint64_t>(what);
}
std::uint32_t ByteSource::read_u32_big(std::string_view what) {
  return __builtin_bswap32(read_little<std::uint32_t>(what));
}

void ByteSource::expect_end(std::string_view after) {
  std::byte extra{};
  if (read_some({&extra, 1}) != 0) {
    throw Error(fmt::format("{}: bytes follow after {}, which ends at byte {}", name_, after, position_));
  }
}

std::size_t ByteSpanSource::read_some(std::span<std::byte> to) {
  const std::size_t count = std::min(to.size(), bytes_.size());
  std::copy_n(bytes_.begin(), count, to.begin());
  bytes_ = bytes_.subspan(count);
  return count;
}

FileSource::FileSource(const std::filesystem::path& path, std::uint64_t offset, std::uint64_t length)
    : ByteSource(path.string()),
      descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {  // no pipe is waited for
  if (descriptor_ < 0) throw Error(fmt::format("{}: cannot be opened: {}", name(), std::strerror(errno)));
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    throw Error(fmt::format("{}: is not a regular file", name()));
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  left_ = offset > size ? 0 : std::min(length, size - offset);
  ::lseek(descriptor_, static_cast<off_t>(std::min(offset, size)), SEEK_SET);
}

FileSource::~FileSource() {
  ::close(descriptor_);
}

std::size_t FileSource::read_some(std::span<std::byte> to) {
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), left_));
  if (wanted == 0) return 0;
  ssize_t count = -1;
  do {
    count = ::read(descriptor_, to.data(), wanted);
  } while (count < 0 && errno == EINTR);
  if (count < 0) throw Error(fmt::format("{}: cannot be read: {}", name(), std::strerror(errno)));
  left_ = count == 0 ? 0 : left_ - static_cast<std::uint64_t>(count);
  return static_cast<std::size_t>(count);
}

std::unique_ptr<ByteSource> open_source(const std::filesystem::path& path) {
  constexpr std::array gzip_magic{std::byte{0x1f}, std::byte{0x8b}};
  std::array<std::byte, gzip_magic.size()> start{};
  const std::size_t count = FileSource(path).read_some(start);
  auto file = std::make_unique<FileSource>(path);
  if (count < start.size() || start != gzip_magic) return file;
  return std::make_unique<InflateSource>(std::move(file));
}

void ReadAhead::refill(std::size_t count) {
  constexpr std::size_t piece = std::size_t{256} << 10;
  const std::size_t held = last_ - first_;
  if (held > 0) std::memmove(memory_.data(), memory_.data() + first_, held);
  first_ = 0;
  last_ = held;
  const std::uint64_t possible = held + std::min<std::uint64_t>(source_->left_at_most(), SIZE_MAX - held);
  const std::size_t wanted = std::max(piece, static_cast<std::size_t>(std::min<std::uint64_t>(count, possible)));
  if (memory_.size() < wanted) memory_.resize(wanted);
  while (last_ < count && last_ < memory_.size()) {
    const std::size_t read = source_->read_some(std::span(memory_).subspan(last_));
    if (read == 0) return;
    last_ += read;
  }
}

}  // namespace gpubench
