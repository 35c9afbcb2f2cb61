// Text that came from outside, as a message shows it: on one line, without what a terminal would act on.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace gpubench {

/// Control characters and bytes that are no UTF-8 are escaped, as in "a\n\x00". Of longer text the first `most` bytes
/// and how many there are: "aaa... (100000 bytes)".
std::string shown_text(std::string_view text, std::size_t most = 80);

}  // namespace gpubench
