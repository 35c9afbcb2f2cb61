// Comma-separated values as RFC 4180 has them: CRLF line ends, quotes where a field needs them. Written by hand, read
// with libcsv.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace gpubench {

/// One line with its CRLF.
std::string csv_line(const std::vector<std::string>& fields);

/// `text` without what stands behind its last whole line: a line that a program which died has not written to its end.
std::string_view whole_csv_lines(std::string_view text);

/// All lines of a text; `what` starts the message of the Error that malformed text throws. Blank lines are skipped.
std::vector<std::vector<std::string>> parse_csv(std::string_view text, std::string_view what);

}  // namespace gpubench
