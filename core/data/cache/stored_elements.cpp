#include "core/data/cache/stored_elements.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/align.h"
#include "core/base/error.h"
#include "core/codec/checksum.h"
#include "core/data/types.h"

namespace gpubench {

/// A file's descriptor. No pipe is waited for.
class CacheFile {
 public:
  explicit CacheFile(const std::string& name) : number_(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (number_ < 0) throw Error(fmt::format("cache: {}: cannot be read: {}", name, std::strerror(errno)));
  }
  ~CacheFile() { ::close(number_); }
  CacheFile(const CacheFile&) = delete;
  CacheFile& operator=(const CacheFile&) = delete;
  operator int() const { return number_; }

 private:
  int number_;
};

namespace {

constexpr std::array<char, 8> opening{'G', 'P', 'B', 'C', 'A', 'C', 'H', '1'};
constexpr std::array<char, 8> closing{'1', 'H', 'C', 'A', 'C', 'B', 'P', 'G'};
constexpr std::size_t write_bytes = std::size_t{1} << 20;
/// Read at once, unless an element is larger. An element that is kept keeps its block.
constexpr std::uint64_t block_bytes = std::uint64_t{1} << 18;
/// Of an identity that is not the expected one.
constexpr std::size_t most_shown = 1000;

/// The end of the file.
struct Footer {
  std::uint64_t index_start = 0;
  std::uint64_t elements = 0;
  std::uint32_t index_checksum = 0;
  std::uint32_t unused = 0;
  std::array<char, 8> mark = closing;
};

[[noreturn]] void fail(const std::string& name, std::string_view reason) {
  throw Error(fmt::format("cache: {}: {}; remove the file to make it anew", name, reason));
}

std::size_t bytes_of(const TensorType& type, const std::string& name) {
  try {
    return type.bytes();
  } catch (const Error&) {
    fail(name, "is damaged");
  }
}

void read_at(int file, const std::string& name, std::uint64_t place, std::span<std::byte> to) {
  while (!to.empty()) {
    const ssize_t count = ::pread(file, to.data(), to.size(), static_cast<off_t>(place));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error(fmt::format("cache: {}: cannot be read: {}", name, std::strerror(errno)));
    if (count == 0) fail(name, "is cut short");
    place += static_cast<std::uint64_t>(count);
    to = to.subspan(static_cast<std::size_t>(count));
  }
}

template <class T>
T value_in(int file, const std::string& name, std::uint64_t place) {
  T value;
  read_at(file, name, place, std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

}  // namespace

std::string cache_identity(const Dataset& source) {
  const std::optional<std::int64_t> size = source.size();
  return fmt::format("{}: {}{}", describe(source), size ? fmt::format("{} elements ", *size) : "",
                     to_string(source.element_types()));
}

CacheWriter::CacheWriter(const std::filesystem::path& path, std::string_view identity) : file_(path) {
  put(opening.data(), opening.size());
  const std::uint64_t size = identity.size();
  put(&size, sizeof(size));
  put(identity.data(), identity.size());
}

void CacheWriter::put(const void* bytes, std::size_t size) {
  const auto* const from = static_cast<const std::byte*>(bytes);
  pending_.insert(pending_.end(), from, from + size);
  if (pending_.size() >= write_bytes) flush();
}

void CacheWriter::flush() {
  file_.write(pending_);
  written_ += pending_.size();
  pending_.clear();
}

void CacheWriter::align() {
  const std::size_t place = written_ + pending_.size();
  pending_.resize(pending_.size() + align_up(place, HostTensor::alignment) - place);
}

void CacheWriter::write(const Element& element) {
  starts_.push_back(written_ + pending_.size());
  for (const HostTensor& tensor : element) put(tensor.shape().data(), tensor.shape().size() * sizeof(std::int64_t));
  for (const HostTensor& tensor : element) {
    align();
    put(tensor.data(), tensor.bytes());
  }
}

void CacheWriter::finish() {
  align();
  Footer footer{.index_start = written_ + pending_.size(),
                .elements = starts_.size(),
                .index_checksum = crc32_of(std::as_bytes(std::span(starts_)))};
  put(starts_.data(), starts_.size() * sizeof(std::uint64_t));
  put(&footer, sizeof(footer));
  flush();
  file_.commit();
}

CacheReader::CacheReader(const std::filesystem::path& path, std::string_view identity, std::vector<TensorType> types)
    : file_(std::make_shared<const CacheFile>(path.string())), name_(path.string()), types_(std::move(types)) {
  constexpr std::uint64_t text_start = opening.size() + sizeof(std::uint64_t);
  struct stat status {};
  if (::fstat(*file_, &status) != 0) throw Error(fmt::format("cache: {}: {}", name_, std::strerror(errno)));
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (!S_ISREG(status.st_mode)) fail(name_, "is no regular file");
  if (bytes < text_start + sizeof(Footer)) fail(name_, "is cut short");
  if (value_in<std::array<char, opening.size()>>(*file_, name_, 0) != opening) fail(name_, "is no cache of gpubench");
  const auto footer = value_in<Footer>(*file_, name_, bytes - sizeof(Footer));
  if (footer.mark != closing || footer.elements > bytes || footer.index_start > bytes ||
      footer.index_start + footer.elements * sizeof(std::uint64_t) + sizeof(Footer) != bytes) {
    fail(name_, "is cut short");
  }
  starts_.resize(footer.elements);
  read_at(*file_, name_, footer.index_start, std::as_writable_bytes(std::span(starts_)));
  if (crc32_of(std::as_bytes(std::span(starts_))) != footer.index_checksum) fail(name_, "is damaged");

  const auto text_size = value_in<std::uint64_t>(*file_, name_, opening.size());
  if (footer.index_start < text_start || text_size > footer.index_start - text_start) fail(name_, "is damaged");
  std::string found(std::min<std::uint64_t>(text_size, identity.size() + most_shown), '\0');
  read_at(*file_, name_, text_start, std::as_writable_bytes(std::span(found)));
  if (found != identity) {
    throw Error(
        fmt::format("cache: {} is of another dataset: it holds {}, this is {}; remove the file or choose another",
                    name_, found, identity));
  }
  starts_.push_back(footer.index_start);
  if (starts_.front() < text_start + text_size || !std::ranges::is_sorted(starts_)) fail(name_, "is damaged");
}

void CacheReader::read(std::int64_t index, Element& element) {
  const std::uint64_t start = starts_[static_cast<std::size_t>(index)],
                      end = starts_[static_cast<std::size_t>(index) + 1];
  if (block_ == nullptr || start < block_start_ || end > block_end_) {
    block_.reset();
    block_start_ = start / HostTensor::alignment * HostTensor::alignment;
    block_end_ = std::min(starts_.back(), std::max(end, block_start_ + block_bytes));
    const HostTensor block(TensorType{{static_cast<std::int64_t>(block_end_ - block_start_)}, Dtype::u8});
    read_at(*file_, name_, block_start_, {block.data(), block.bytes()});
    block_ = block.memory();
  }
  const auto at = [&](std::uint64_t position) { return block_.get() + (position - block_start_); };
  element.resize(types_.size());
  std::uint64_t place = start, data = start;
  for (const TensorType& known : types_) data += known.shape.size() * sizeof(std::int64_t);
  if (data > end) fail(name_, "is damaged");
  TensorType type;
  for (std::size_t i = 0; i < types_.size(); ++i) {
    type = types_[i];
    for (std::int64_t& extent : type.shape) {
      const std::int64_t known = extent;
      std::memcpy(&extent, at(place), sizeof extent);
      place += sizeof extent;
      if (extent < 0 || (known != varying && extent != known)) fail(name_, "is damaged");
    }
    data = align_up(data, HostTensor::alignment);
    const std::size_t bytes = bytes_of(type, name_);
    if (data > end || bytes > end - data) fail(name_, "is damaged");
    element[i].assign(type, std::shared_ptr<std::byte>(block_, at(data)));
    data += bytes;
  }
}

}  // namespace gpubench
