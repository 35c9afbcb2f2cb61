// Bytes as text: what processes tell each other goes as lines of JSON, which takes no other bytes than those of UTF-8.
#pragma once
#include <string>
#include <string_view>

namespace gpubench::nccl {

/// "00ff" of the bytes 0 and 255.
std::string as_hex(std::string_view bytes);
/// Throws Error for what as_hex() never gave.
std::string from_hex(std::string_view text);

}  // namespace gpubench::nccl
