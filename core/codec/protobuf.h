// The wire format of protocol buffers, as far as messages of strings, numbers and messages need it
// (protobuf.dev/programming-guides/encoding).
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace gpubench {

/// Reads the fields of a message in the order of the bytes. Nothing is copied, and no length is trusted.
class WireReader {
 public:
  enum class Kind : unsigned char { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  static constexpr unsigned kind_bits = 3;

  /// `message` lies in `whole`, from whose start errors count bytes. `what`: "tf.train.Example", in errors; it must
  /// outlive the reader.
  WireReader(std::span<const std::byte> message, std::span<const std::byte> whole, std::string_view what)
      : at_(message.data()), end_(message.data() + message.size()), start_(whole.data()), what_(what) {}

  /// Goes to the next field; false at the end. Throws Error where the bytes are no message.
  bool next();
  std::uint32_t field() const { return field_; }
  Kind kind() const { return kind_; }
  /// The value of a field of kind `bytes`; throws Error for other kinds.
  std::span<const std::byte> bytes() const;
  /// The same as text.
  std::string_view text() const;
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
  std::string_view what_;
  std::uint32_t field_ = 0;
  Kind kind_ = Kind::varint;
  std::uint64_t number_ = 0;
  std::span<const std::byte> bytes_;
};

/// Appends a number of the kind `varint`, without a field.
void put_varint(std::string& to, std::uint64_t value);
/// Appends a field that holds bytes: a text, a message or packed numbers.
void put_bytes(std::string& to, std::uint32_t field, std::string_view bytes);
/// Appends a field that holds an integer.
void put_number(std::string& to, std::uint32_t field, std::uint64_t value);
/// Appends a field that holds a float or a double.
template <class T>
void put_fixed(std::string& to, std::uint32_t field, T value) {
  constexpr auto kind = sizeof(T) == sizeof(std::uint32_t) ? WireReader::Kind::fixed32 : WireReader::Kind::fixed64;
  put_varint(to, (std::uint64_t{field} << WireReader::kind_bits) | static_cast<unsigned>(kind));
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  to.append(bytes, sizeof(T));
}

}  // namespace gpubench
