// Text files: their lines, or their bytes as tokens.
//
//   text_lines({"reviews/*.txt"})                      // uint8[?], without line ends
//   window(byte_tokens({"book.txt"}), {.size = 129, .shift = 128})  // sequences of tokens
#pragma once
#include <span>
#include <string>

#include "core/data/dataset.h"

namespace gpubench {

/// The lines of all files, plain or gzip, in their order: "\n" and "\r\n" end a line, and the last one needs no end.
/// `files` are paths and patterns; throws Error if one matches nothing.
DatasetPtr text_lines(std::span<const std::string> files);

/// Every byte of all files, plain or gzip, as an element uint8[]. The files are read here, into one tensor whose rows
/// are the elements. Throws Error if a pattern matches nothing, if a file cannot be read, and if all are empty.
DatasetPtr byte_tokens(std::span<const std::string> files);

}  // namespace gpubench
