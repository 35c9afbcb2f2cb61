#include "core/data/cache/stored_elements.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/align.h"
#include "core/base/error.h"
#include "core/codec/checksum.h"

namespace gpubench {
namespace {

constexpr std::array<char, 8> opening{'G', 'P', 'B', 'C', 'A', 'C', 'H', '1'};
constexpr std::array<char, 8> closing{'1', 'H', 'C', 'A', 'C', 'B', 'P', 'G'};
constexpr std::size_t write_bytes = std::size_t{1} << 20;

/// The end of the file.
struct Footer {
  std::uint64_t index_start = 0;
  std::uint64_t elements = 0;
  std::uint32_t index_checksum = 0;
  std::uint32_t unused = 0;
  std::array<char, 8> mark = closing;
};

template <class T>
T value_at(const std::byte* place) {
  T value;
  std::memcpy(&value, place, sizeof(T));
  return value;
}

[[noreturn]] void fail(const std::string& name, std::string_view reason) {
  throw Error(fmt::format("cache: {}: {}; remove the file to make it anew", name, reason));
}

class Descriptor {
 public:
  explicit Descriptor(const std::string& name) : number_(::open(name.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (number_ < 0) throw Error(fmt::format("cache: {}: cannot be read: {}", name, std::strerror(errno)));
  }
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator int() const { return number_; }

 private:
  int number_;
};

std::shared_ptr<std::byte> map_file(const std::string& name, std::size_t& bytes) {
  const Descriptor file(name);
  struct stat status {};
  if (::fstat(file, &status) != 0) throw Error(fmt::format("cache: {}: {}", name, std::strerror(errno)));
  bytes = static_cast<std::size_t>(status.st_size);
  if (bytes < opening.size() + sizeof(std::uint64_t) + sizeof(Footer)) fail(name, "is cut short");
  void* const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  if (memory == MAP_FAILED) throw Error(fmt::format("cache: {}: cannot be mapped: {}", name, std::strerror(errno)));
  return {static_cast<std::byte*>(memory), [bytes](std::byte* mapped) { ::munmap(mapped, bytes); }};
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
    : types_(std::move(types)), name_(path.string()) {
  mapped_ = map_file(name_, bytes_);
  const std::byte* const start = mapped_.get();
  if (std::memcmp(start, opening.data(), opening.size()) != 0) fail(name_, "is no cache of gpubench");
  const auto footer = value_at<Footer>(start + bytes_ - sizeof(Footer));
  const std::size_t index_bytes = footer.elements * sizeof(std::uint64_t);
  if (footer.mark != closing || footer.elements > bytes_ || footer.index_start > bytes_ ||
      footer.index_start + index_bytes + sizeof(Footer) != bytes_) {
    fail(name_, "is cut short");
  }
  if (crc32_of({start + footer.index_start, index_bytes}) != footer.index_checksum) fail(name_, "is damaged");

  const std::size_t text_start = opening.size() + sizeof(std::uint64_t);
  const auto text_size = value_at<std::uint64_t>(start + opening.size());
  if (text_size > footer.index_start - text_start) fail(name_, "is damaged");
  const std::string_view found(reinterpret_cast<const char*>(start + text_start), text_size);
  if (found != identity) {
    throw Error(
        fmt::format("cache: {} is of another dataset: it holds {}, this is {}; remove the file or choose another",
                    name_, found, identity));
  }
  elements_ = static_cast<std::int64_t>(footer.elements);
  index_start_ = footer.index_start;
}

void CacheReader::read(std::int64_t index, Element& element) const {
  const std::byte* const start = mapped_.get();
  std::size_t place = value_at<std::uint64_t>(start + index_start_ + static_cast<std::size_t>(index) * sizeof(place));
  element.resize(types_.size());
  TensorType type;
  std::size_t data = place;
  for (const TensorType& known : types_) data += known.shape.size() * sizeof(std::int64_t);
  for (std::size_t i = 0; i < types_.size(); ++i) {
    type = types_[i];
    if (data > index_start_) fail(name_, "is damaged");
    for (std::int64_t& extent : type.shape) {
      extent = value_at<std::int64_t>(start + place);
      place += sizeof extent;
    }
    data = align_up(data, HostTensor::alignment);
    std::size_t bytes = size_of(type.dtype);
    for (const std::int64_t extent : type.shape) {
      if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<std::size_t>(extent), &bytes)) bytes = SIZE_MAX;
    }
    if (data > index_start_ || bytes > index_start_ - data) fail(name_, "is damaged");
    element[i].assign(type, std::shared_ptr<std::byte>(mapped_, mapped_.get() + data));
    data += bytes;
  }
}

}  // namespace gpubench
