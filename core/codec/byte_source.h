// A sequence of bytes from memory, a file, a part of a file, or a compressed stream. Decoders never trust a length from
// the data before they have compared it with left_at_most().
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpubench {

class ByteSource {
 public:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// The source's name in messages: a file's path.
  const std::string& name() const { return name_; }
  /// Fills `to`, or throws Error saying that `what` is cut short.
  void read(std::span<std::byte> to, std::string_view what);
  std::uint8_t read_u8(std::string_view what);
  std::uint16_t read_u16_little(std::string_view what);
  std::uint32_t read_u32_little(std::string_view what);
  std::uint64_t read_u64_little(std::string_view what);
  std::uint32_t read_u32_big(std::string_view what);
  /// Throws Error if bytes are left.
  void expect_end(std::string_view after);
  std::uint64_t position() const { return position_; }

  /// Reads up to to.size() bytes and returns how many; 0 only at the end.
  virtual std::size_t read_some(std::span<std::byte> to) = 0;
  /// Upper bound of the bytes left; exact for uncompressed sources.
  virtual std::uint64_t left_at_most() const = 0;
  /// No more bytes than this are taken into memory at once: what a compressed source holds may be far more than itself.
  virtual std::uint64_t most_at_once() const { return UINT64_MAX; }

 private:
  template <class T>
  T read_little(std::string_view what);

  std::string name_;
  std::uint64_t position_ = 0;
};

class ByteSpanSource final : public ByteSource {
 public:
  /// `bytes` must outlive the source.
  ByteSpanSource(std::string name, std::span<const std::byte> bytes) : ByteSource(std::move(name)), bytes_(bytes) {}
  std::size_t read_some(std::span<std::byte> to) override;
  std::uint64_t left_at_most() const override { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

/// The bytes [offset, offset + length) of a file, or all of them. Throws Error if it cannot be opened.
class FileSource final : public ByteSource {
 public:
  explicit FileSource(const std::filesystem::path& path, std::uint64_t offset = 0, std::uint64_t length = UINT64_MAX);
  ~FileSource() override;
  std::size_t read_some(std::span<std::byte> to) override;
  std::uint64_t left_at_most() const override { return left_; }

 private:
  int descriptor_ = -1;
  std::uint64_t left_ = 0;
};

/// Decompresses a source of gzip data. Checks its checksums; reads several concatenated members as one stream.
class InflateSource final : public ByteSource {
 public:
  explicit InflateSource(std::unique_ptr<ByteSource> compressed);
  ~InflateSource() override;
  std::size_t read_some(std::span<std::byte> to) override;
  std::uint64_t left_at_most() const override;
  std::uint64_t most_at_once() const override;

 private:
  struct State;
  void refill();
  void finish_member();

  std::unique_ptr<ByteSource> compressed_;
  std::unique_ptr<State> state_;
};

/// A file, decompressed if it starts like a gzip file.
std::unique_ptr<ByteSource> open_source(const std::filesystem::path& path);

/// A window onto a source's next bytes, for formats with many small records: records are parsed in place, and the
/// source is read in large pieces only.
class ReadAhead {
 public:
  explicit ReadAhead(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  const std::string& name() const { return source_->name(); }
  /// Offset of the window in the (uncompressed) bytes.
  std::uint64_t position() const { return position_; }
  /// The buffered bytes: at least the next `count`, unless the source ends before. Valid until the next call. The
  /// buffer grows as needed, but never beyond left_at_most().
  std::span<const std::byte> peek(std::size_t count) {
    if (last_ - first_ < count) refill(count);
    return {memory_.data() + first_, last_ - first_};
  }
  /// Moves the window forward by `count` bytes.
  void pass(std::size_t count) {
    first_ += count;
    position_ += count;
  }

 private:
  void refill(std::size_t count);

  std::unique_ptr<ByteSource> source_;
  std::vector<std::byte> memory_;
  std::size_t first_ = 0;
  std::size_t last_ = 0;
  std::uint64_t position_ = 0;
};

}  // namespace gpubench
