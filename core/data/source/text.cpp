#include "core/data/source/text.h"

#include <cstring>
#include <fmt/format.h>
#include <utility>

#include "core/base/error.h"
#include "core/codec/byte_source.h"
#include "core/codec/file_patterns.h"
#include "core/data/source/from_tensor_slices.h"
#include "core/data/source/record_files.h"

namespace gpubench {
namespace {

constexpr std::string_view text_lines_stage = "text_lines";
constexpr std::size_t piece = std::size_t{64} << 10;

class TextFile final : public RecordFile {
 public:
  explicit TextFile(const std::string& path) : bytes_(open_source(path)) {}

  bool next() override {
    bytes_.pass(std::exchange(passing_, 0));
    line_ = {};
    const std::span<const std::byte> found = find_line();
    if (passing_ == 0) return false;
    line_ = found;
    if (!line_.empty() && line_.back() == std::byte{'\r'} && passing_ > found.size())
      line_ = line_.first(line_.size() - 1);
    return true;
  }

  void put(ElementOutputs& outputs) const override {
    std::byte* const place = outputs.place(0, {{std::ssize(line_)}, Dtype::u8});
    if (!line_.empty()) std::memcpy(place, line_.data(), line_.size());
  }

 private:
  /// The bytes up to the next line end or the end of the file; sets how many to pass, 0 at the end.
  std::span<const std::byte> find_line() {
    std::size_t seen = 0;
    for (std::size_t wanted = least_ahead;; wanted *= 2) {
      const std::span<const std::byte> window = bytes_.peek(wanted);
      const void* const end =
          window.size() == seen ? nullptr : std::memchr(window.data() + seen, '\n', window.size() - seen);
      if (end != nullptr) {
        const auto size = static_cast<std::size_t>(static_cast<const std::byte*>(end) - window.data());
        passing_ = size + 1;
        return window.first(size);
      }
      seen = window.size();
      if (seen < wanted) {
        passing_ = seen;
        return window;
      }
    }
  }

  static constexpr std::size_t least_ahead = std::size_t{1} << 12;

  ReadAhead bytes_;
  std::size_t passing_ = 0;  // bytes of the line and its end
  std::span<const std::byte> line_;
};

/// Appends the file's bytes.
void read_whole(const std::string& path, std::vector<std::byte>& to) {
  const std::unique_ptr<ByteSource> source = open_source(path);
  const std::uint64_t most = source->most_at_once();
  for (std::uint64_t size = 0;;) {
    const std::size_t end = to.size();
    to.resize(end + piece);
    const std::size_t count = source->read_some(std::span(to).subspan(end));
    to.resize(end + count);
    size += count;
    if (count == 0) return;
    if (size > most) {
      throw Error(fmt::format("bytes: {} unpacks to more than {} bytes, far more than text does", path, most));
    }
  }
}

}  // namespace

DatasetPtr text_lines(std::span<const std::string> files) {
  return record_files(expand_patterns(files, text_lines_stage),
                      {.stage = text_lines_stage,
                       .types = {{{varying}, Dtype::u8}},
                       .open = [](const std::string& path) -> std::unique_ptr<RecordFile> {
                         return std::make_unique<TextFile>(path);
                       }});
}

DatasetPtr byte_tokens(std::span<const std::string> files) {
  const std::vector<std::string> paths = expand_patterns(files, "bytes");
  std::vector<std::byte> all;
  for (const std::string& path : paths) read_whole(path, all);
  if (all.empty())
    throw Error(fmt::format("bytes: {} {} empty", paths.front(), paths.size() == 1 ? "is" : "and all others are"));
  HostTensor tokens(TensorType{{std::ssize(all)}, Dtype::u8});
  std::memcpy(tokens.data(), all.data(), all.size());
  return from_tensor_slices({std::move(tokens)});
}

}  // namespace gpubench
