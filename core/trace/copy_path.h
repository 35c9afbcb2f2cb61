// Between which memories a copy goes, and how spans of copies are named, so that a timeline tells what is copied.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/trace/timeline.h"

namespace gpubench {

enum class CopyPath : std::uint8_t {
  unknown,
  pageable_to_device,
  pinned_to_device,
  host_to_device,  ///< from memory of unknown kind
  device_to_host,
  within_device,
  between_devices,
};
inline constexpr std::size_t copy_path_count = 7;

/// "from pageable memory to the device".
std::string_view to_string(CopyPath path);
/// "copy from pageable memory to the device"; it lives as long as the program.
std::string_view span_name(CopyPath path);
/// Of a span's name; unknown for a name that span_name() does not give.
CopyPath copy_path_of(std::string_view span_name);

struct CopiesOfPath {
  CopyPath path = CopyPath::unknown;
  std::int64_t count = 0;
};
/// Of the path whose copies take most time within the window, however they overlap; nothing where nothing is copied.
std::optional<CopiesOfPath> most_copied(const Timeline& timeline, const Window& window);

}  // namespace gpubench
