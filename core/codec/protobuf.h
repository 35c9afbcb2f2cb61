// The wire format of protocol buffers, as far as messages of strings, numbers and messages need it: fields in the order
// of the bytes. Nothing is copied, and no length is trusted.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gpubench {

class WireReader {
 public:
  enum class Kind : unsigned char { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  /// `message` lies in `whole`, from whose start errors count bytes.
  WireReader(std::span<const std::byte> message, std::span<const std::byte> whole)
      : at_(message.data()), end_(message.data() + message.size()), start_(whole.data()) {}

  /// Goes to the next field; false at the end. Throws Error where the bytes are no message.
  bool next();
  std::uint32_t field() const { return field_; }
  Kind kind() const { return kind_; }
  /// Of a field of that kind; whoever asks for another kind gets Error.
  std::span<const std::byte> bytes() const;
  /// The value of a varint or a fixed number.
  std::uint64_t number() const { return number_; }

  /// A varint at the start of `bytes`, which it shortens. Throws Error when it does not end.
  std::uint64_t take_varint(std::span<const std::byte>& bytes) const;
  [[noreturn]] void fail(const std::byte* where, std::string_view what) const;

 private:
  std::span<const std::byte> take(std::size_t count, std::string_view what);

  const std::byte* at_;
  const std::byte* end_;
  const std::byte* start_;
  std::uint32_t field_ = 0;
  Kind kind_ = Kind::varint;
  std::uint64_t number_ = 0;
  std::span<const std::byte> bytes_;
};

/// Appends a varint.
void put_varint(std::string& to, std::uint64_t value);
/// Appends a field that holds bytes: a string, a message or packed numbers.
void put_bytes(std::string& to, std::uint32_t field, std::string_view bytes);

}  // namespace gpubench
