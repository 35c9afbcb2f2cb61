#include "core/trace/copy_path.h"

#include <algorithm>
#include <array>

namespace gpubench {
namespace {

/// In the order of CopyPath.
constexpr std::array<std::string_view, copy_path_count> span_names = {"copy of unknown direction",
                                                                      "copy from pageable memory to the device",
                                                                      "copy from pinned memory to the device",
                                                                      "copy from the host to the device",
                                                                      "copy from the device to the host",
                                                                      "copy within the device",
                                                                      "copy between devices"};
constexpr std::string_view first_word = "copy ";

}  // namespace

std::string_view span_name(CopyPath path) {
  return span_names[static_cast<std::size_t>(path)];
}

std::string_view to_string(CopyPath path) {
  return span_name(path).substr(first_word.size());
}

CopyPath copy_path_of(std::string_view span_name) {
  const auto found = std::ranges::find(span_names, span_name);
  return found == span_names.end() ? CopyPath::unknown : static_cast<CopyPath>(found - span_names.begin());
}

std::optional<CopiesOfPath> most_copied(const Timeline& timeline, const Window& window) {
  std::array<Clock::duration, copy_path_count> times{};
  std::array<std::int64_t, copy_path_count> counts{};
  for (const Span& span : timeline.spans()) {
    if (span.span_class != SpanClass::copy || span.begin < window.begin || span.begin >= window.end) continue;
    const auto path = static_cast<std::size_t>(copy_path_of(timeline.text(span.name)));
    times[path] += span.end - span.begin;
    ++counts[path];
  }
  if (std::ranges::all_of(counts, [](std::int64_t count) { return count == 0; })) return std::nullopt;
  const auto most = static_cast<std::size_t>(std::ranges::max_element(times) - times.begin());
  return CopiesOfPath{static_cast<CopyPath>(most), counts[most]};
}

}  // namespace gpubench
