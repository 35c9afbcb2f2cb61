// Files of the repository that are written from declarations in the code.
#pragma once
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <string_view>

namespace gpubench {

/// Empty if there is no such file; `file` is a path in the repository.
inline std::string repository_file(std::string_view file) {
  std::ifstream in(std::filesystem::path(GPUBENCH_SOURCE_DIR) / file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Fails unless the file has this text, and writes it elsewhere as it should be.
inline void expect_generated(std::string_view file, const std::string& right) {
  if (repository_file(file) == right) return;
  const std::filesystem::path written = std::filesystem::temp_directory_path() / std::filesystem::path(file).filename();
  std::ofstream(written, std::ios::binary) << right;
  ADD_FAILURE() << file << " is not what the code declares; as it should be: cp " << written.string() << " " << file;
}

/// The same of the one table of a page that begins with `heading`.
inline void expect_generated_table(std::string_view page, std::string_view heading, const std::string& table) {
  const std::string text = repository_file(page);
  const std::size_t begin = text.find(heading);
  ASSERT_NE(begin, std::string::npos) << page << " has no table that begins with " << heading;
  expect_generated(page, text.substr(0, begin) + table + text.substr(text.find("\n\n", begin) + 1));
}

}  // namespace gpubench
