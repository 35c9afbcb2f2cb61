#include "core/codec/npz.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/codec/npy.h"

namespace gpubench {
namespace {

constexpr std::uint32_t end_signature = 0x06054b50, entry_signature = 0x02014b50, local_signature = 0x04034b50;
constexpr std::size_t end_bytes = 22, entry_bytes = 46, local_bytes = 30;
constexpr std::size_t longest_comment = 0xFFFF;
constexpr std::uint32_t in_zip64 = 0xFFFFFFFF;

template <class T>
T field_at(std::span<const std::byte> bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

std::vector<std::byte> part_of(const std::filesystem::path& path, std::uint64_t offset, std::uint64_t bytes,
                               std::string_view what) {
  FileSource source(path, offset, bytes);
  if (source.left_at_most() < bytes) throw Error(fmt::format("{}: the archive is damaged: {}", path.string(), what));
  std::vector<std::byte> part(bytes);
  source.read(part, what);
  return part;
}

/// A deflated member as gzip data, which has the same bytes between another header and its checksum.
class GzippedMember final : public ByteSource {
 public:
  GzippedMember(std::unique_ptr<ByteSource> deflated, std::uint32_t checksum, std::uint32_t bytes)
      : ByteSource(deflated->name()), deflated_(std::move(deflated)) {
    std::memcpy(trailer_.data(), &checksum, sizeof checksum);
    std::memcpy(trailer_.data() + sizeof checksum, &bytes, sizeof bytes);
  }

  std::size_t read_some(std::span<std::byte> to) override {
    std::size_t count = head_.read_some(to);
    if (count == 0) count = deflated_->read_some(to);
    return count > 0 ? count : tail_.read_some(to);
  }
  std::uint64_t left_at_most() const override {
    return head_.left_at_most() + deflated_->left_at_most() + tail_.left_at_most();
  }

 private:
  static constexpr std::array<unsigned char, 10> header{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
  std::array<std::byte, 8> trailer_{};
  ByteSpanSource head_{"", std::as_bytes(std::span(header))};
  std::unique_ptr<ByteSource> deflated_;
  ByteSpanSource tail_{"", trailer_};
};

/// A pickle's machine, with as much of its state as lists of integers need.
class PickledLists {
 public:
  explicit PickledLists(std::unique_ptr<ByteSource> source) : bytes_(std::move(source)) {}

  /// The lists within the pickle's one list of lists.
  IntegerLists read() {
    while (step(take<std::uint8_t>())) continue;
    const auto is_outer = [](const List& list) { return !list.lists.empty(); };
    if (std::ranges::count_if(lists_, is_outer) != 1) fail("it holds no list of lists");
    IntegerLists found;
    for (const std::size_t inner : std::ranges::find_if(lists_, is_outer)->lists) {
      const std::vector<std::int64_t>& numbers = lists_[inner].numbers;
      // A list may stand at several places; then a small file could hold more than fits into memory.
      if (found.values.size() + numbers.size() > bytes_.position()) fail("it repeats its lists");
      found.values.insert(found.values.end(), numbers.begin(), numbers.end());
      found.ends.push_back(found.values.size());
    }
    return found;
  }

 private:
  enum class Kind : std::uint8_t { other, mark, number, list };
  struct Item {
    Kind kind = Kind::other;
    std::int64_t value = 0;  // the number, or which list
  };
  struct List {
    std::vector<std::int64_t> numbers;
    std::vector<std::size_t> lists;
  };

  [[noreturn]] void fail(std::string_view why) const {
    throw Error(
        fmt::format("{}: the pickle cannot be read: {}; arrays of lists of whole numbers can", bytes_.name(), why));
  }

  std::span<const std::byte> take_bytes(std::size_t count) {
    const std::span<const std::byte> window = bytes_.peek(count);
    if (window.size() < count) fail("it is cut short");
    bytes_.pass(count);
    return window.first(count);
  }
  template <class T>
  T take() {
    return field_at<T>(take_bytes(sizeof(T)), 0);
  }
  void pass_line() {
    while (take<char>() != '\n') continue;
  }
  /// A text or a class: what it is means nothing here.
  void push_other(std::size_t passed_bytes = 0) {
    constexpr std::size_t longest_text = 1 << 16;
    if (passed_bytes > longest_text) fail("it has a long text");
    take_bytes(passed_bytes);
    stack_.push_back({});
  }
  void push_number(std::int64_t number) { stack_.push_back({Kind::number, number}); }
  Item pop() {
    if (stack_.empty()) fail("its stack is empty");
    const Item item = stack_.back();
    stack_.pop_back();
    return item;
  }
  void replace(int count) {
    for (int i = 0; i < count; ++i) pop();
    stack_.push_back({});
  }
  void remember(std::uint32_t key) {
    if (stack_.empty()) fail("its stack is empty");
    memo_[key] = stack_.back();
  }
  void recall(std::uint32_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) fail("it names what it has not kept");
    stack_.push_back(found->second);
  }
  std::size_t last_mark() const {
    for (std::size_t i = stack_.size(); i-- > 0;) {
      if (stack_[i].kind == Kind::mark) return i;
    }
    fail("it has no mark");
  }

  std::int64_t long_number() {
    const std::size_t count = take<std::uint8_t>();
    if (count > sizeof(std::int64_t)) fail("it has a number beyond int64");
    std::uint64_t number = 0;
    const std::span<const std::byte> bytes = take_bytes(count);
    for (std::size_t i = 0; i < count; ++i) number |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    const bool negative = count > 0 && (bytes[count - 1] & std::byte{0x80}) != std::byte{0};
    if (negative && count < sizeof number) number |= ~std::uint64_t{0} << (8 * count);
    return static_cast<std::int64_t>(number);
  }

  /// Appends what lies on the stack from `first` on to the list before it, whose mark is left out.
  void append(std::size_t first, bool has_mark) {
    const std::size_t at = first - (has_mark ? 1 : 0);
    if (at == 0 || stack_[at - 1].kind != Kind::list) fail("it appends to what is no list");
    List& list = lists_[static_cast<std::size_t>(stack_[at - 1].value)];
    for (std::size_t i = first; i < stack_.size(); ++i) {
      if (stack_[i].kind == Kind::number) {
        list.numbers.push_back(stack_[i].value);
      } else if (stack_[i].kind == Kind::list) {
        list.lists.push_back(static_cast<std::size_t>(stack_[i].value));
      } else {
        fail("a list holds something else");
      }
    }
    stack_.resize(at);
  }

  /// Executes an instruction; false at the end.
  bool step(std::uint8_t instruction) {
    switch (instruction) {
      case '.':
        return false;
      case 0x80:  // PROTO
        return take<std::uint8_t>(), true;
      case 0x95:  // FRAME
        return take<std::uint64_t>(), true;
      case '(':
        return stack_.push_back({Kind::mark}), true;
      case ']':
        lists_.emplace_back();
        return stack_.push_back({Kind::list, std::ssize(lists_) - 1}), true;
      case 'a':
        return stack_.empty() ? fail("its stack is empty") : append(stack_.size() - 1, false), true;
      case 'e':
        return append(last_mark() + 1, true), true;
      case 'K':
        return push_number(take<std::uint8_t>()), true;
      case 'M':
        return push_number(take<std::uint16_t>()), true;
      case 'J':
        return push_number(take<std::int32_t>()), true;
      case 0x8a:  // LONG1
        return push_number(long_number()), true;
      case 'q':
        return remember(take<std::uint8_t>()), true;
      case 'r':
        return remember(take<std::uint32_t>()), true;
      case 0x94:  // MEMOIZE
        return remember(static_cast<std::uint32_t>(memo_.size())), true;
      case 'h':
        return recall(take<std::uint8_t>()), true;
      case 'j':
        return recall(take<std::uint32_t>()), true;
      case 'c':
        return pass_line(), pass_line(), push_other(), true;
      case 'C':
      case 'U':
      case 0x8c:  // texts with a length of one byte
        return push_other(take<std::uint8_t>()), true;
      case 'B':
      case 'T':
      case 'X':
        return push_other(take<std::uint32_t>()), true;
      case 'N':
      case ')':
      case '}':
      case 0x88:  // True
      case 0x89:  // False
        return push_other(), true;
      case 0x85:  // TUPLE1
        return replace(1), true;
      case 0x86:  // TUPLE2
      case 0x93:  // STACK_GLOBAL
      case 'R':
        return replace(2), true;
      case 0x87:  // TUPLE3
        return replace(3), true;
      case 't':
        return stack_.resize(last_mark()), push_other(), true;
      case 'b':
        return pop(), true;
      default:
        fail(fmt::format("it has the instruction 0x{:02x}", instruction));
    }
  }

  ReadAhead bytes_;
  std::vector<Item> stack_;
  std::vector<List> lists_;
  std::map<std::uint32_t, Item> memo_;
};

}  // namespace

NpzFile::NpzFile(std::filesystem::path path) : path_(std::move(path)) {
  const std::uint64_t size = FileSource(path_).left_at_most();
  const std::uint64_t tail = std::min<std::uint64_t>(size, end_bytes + longest_comment);
  const std::vector<std::byte> last = part_of(path_, size - tail, tail, "its end is missing");
  std::size_t end = last.size();
  for (std::size_t i = last.size(); i-- > 0 && end == last.size();) {
    if (i + end_bytes <= last.size() && field_at<std::uint32_t>(last, i) == end_signature) end = i;
  }
  if (end == last.size()) throw Error(fmt::format("{}: no zip archive, as .npz files are", path_.string()));
  const auto directory_bytes = field_at<std::uint32_t>(last, end + 12);
  const auto directory_at = field_at<std::uint32_t>(last, end + 16);
  if (directory_at == in_zip64) throw Error(fmt::format("{}: archives in zip64 are not read", path_.string()));
  const std::vector<std::byte> directory = part_of(path_, directory_at, directory_bytes, "its list is cut short");
  for (std::size_t at = 0; at + entry_bytes <= directory.size();) {
    if (field_at<std::uint32_t>(directory, at) != entry_signature) break;
    const std::size_t name_bytes = field_at<std::uint16_t>(directory, at + 28);
    const std::size_t extra_bytes = field_at<std::uint16_t>(directory, at + 30);
    const std::size_t comment_bytes = field_at<std::uint16_t>(directory, at + 32);
    if (at + entry_bytes + name_bytes > directory.size()) break;
    std::string name(reinterpret_cast<const char*>(directory.data() + at + entry_bytes), name_bytes);
    if (name.ends_with(".npy")) name.resize(name.size() - std::string_view(".npy").size());
    members_[name] = {.deflated = field_at<std::uint16_t>(directory, at + 10) != 0,
                      .checksum = field_at<std::uint32_t>(directory, at + 16),
                      .compressed_bytes = field_at<std::uint32_t>(directory, at + 20),
                      .bytes = field_at<std::uint32_t>(directory, at + 24),
                      .header_at = field_at<std::uint32_t>(directory, at + 42)};
    at += entry_bytes + name_bytes + extra_bytes + comment_bytes;
  }
}

std::unique_ptr<ByteSource> NpzFile::open(const std::string& name) const {
  const auto found = members_.find(name);
  if (found == members_.end()) {
    std::vector<std::string> names;
    for (const auto& [known, member] : members_) names.push_back(known);
    throw Error(fmt::format("{}: has no array '{}' (known: {})", path_.string(), name, fmt::join(names, ", ")));
  }
  const Member& member = found->second;
  const std::vector<std::byte> header = part_of(path_, member.header_at, local_bytes, "a member is missing");
  if (field_at<std::uint32_t>(header, 0) != local_signature || member.bytes == in_zip64) {
    throw Error(fmt::format("{}: the archive is damaged: '{}' is not where its list says", path_.string(), name));
  }
  const std::uint64_t names = field_at<std::uint16_t>(header, 26) + field_at<std::uint16_t>(header, 28);
  auto stored = std::make_unique<FileSource>(path_, member.header_at + local_bytes + names, member.compressed_bytes);
  if (!member.deflated) return stored;
  return std::make_unique<InflateSource>(
      std::make_unique<GzippedMember>(std::move(stored), member.checksum, member.bytes));
}

IntegerLists decode_integer_lists(std::unique_ptr<ByteSource> source) {
  const NpyHeader header = read_npy_header(*source);
  if (!header.descr.ends_with('O') || header.shape.size() != 1) {
    throw Error(fmt::format("{}: an array of lists is expected (npy type '|O'), got '{}' of {} dimensions",
                            source->name(), header.descr, header.shape.size()));
  }
  const std::string name = source->name();
  IntegerLists lists = PickledLists(std::move(source)).read();
  if (std::ssize(lists.ends) != header.shape[0]) {
    throw Error(fmt::format("{}: {} lists where the array's header has {}", name, lists.ends.size(), header.shape[0]));
  }
  return lists;
}

}  // namespace gpubench
