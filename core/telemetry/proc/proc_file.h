// Reads the process file system: small text files of "name: value" lines or of numbers.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace gpubench {

/// Empty text if the file cannot be read.
std::string read_small_file(const std::filesystem::path& path);

/// The text after "key:" up to the line's end, without surrounding blanks; empty if there is no such line.
std::string_view field_after(std::string_view text, std::string_view key);

/// The number at the start of `text`.
std::optional<double> leading_number(std::string_view text);

/// "VmHWM:  1234 kB" as bytes.
std::optional<double> bytes_after(std::string_view text, std::string_view key);

}  // namespace gpubench
