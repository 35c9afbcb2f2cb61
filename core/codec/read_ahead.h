// A window onto a source's next bytes, for formats of many small records: a record is looked at where it lies, and the
// source is asked for large pieces only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/codec/byte_source.h"

namespace gpubench {

class ReadAhead {
 public:
  explicit ReadAhead(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  const std::string& name() const { return source_->name(); }
  /// Where the window starts in the (uncompressed) bytes.
  std::uint64_t position() const { return position_; }
  /// All that is in memory, at least the next `count` bytes unless the source ends before. Valid until the next call.
  /// Memory grows to hold them, but never beyond what the source may still have.
  std::span<const std::byte> peek(std::size_t count) {
    if (last_ - first_ < count) refill(count);
    return {memory_.data() + first_, last_ - first_};
  }
  /// Moves the window; `count` bytes have been seen.
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
