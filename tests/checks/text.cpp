#include "tests/checks/text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <istream>
#include <stdexcept>
#include <string_view>

namespace gpubench::checks {

namespace {

constexpr std::array<std::string_view, 9> folders = {"core", "lua",   "tests",       "cmake", "tools",
                                                     ".ci",  "plots", "experiments", "docs"};
constexpr std::array<std::string_view, 10> extensions = {".h",   ".cpp", ".cu", ".cuh", ".lua",
                                                         ".txt", ".md",  ".sh", ".gp",  ".cmake"};

// Programs such as tests/run have no extension.
bool is_text(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  return extension.empty() || std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

std::vector<TextRule> read_text_rules(std::istream& text) {
  std::vector<TextRule> rules;
  std::string line;
  while (std::getline(text, line)) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t bar = line.find('|');
    if (bar == std::string::npos) throw std::runtime_error("text rules: no '|' in '" + line + "'");
    rules.push_back({trimmed(line.substr(0, bar)), std::regex(trimmed(line.substr(bar + 1)), std::regex::extended)});
  }
  return rules;
}

std::vector<std::string> text_files(const std::filesystem::path& root) {
  std::vector<std::string> files;
  const auto add = [&](const std::filesystem::directory_entry& entry) {
    if (entry.is_regular_file() && is_text(entry.path())) {
      files.push_back(std::filesystem::relative(entry.path(), root).generic_string());
    }
  };
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    if (entry.path().filename() != ".git") add(entry);  // a file in a work tree
  }
  for (const std::string_view folder : folders) {
    if (!std::filesystem::exists(root / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) add(entry);
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> text_violations(const std::vector<TextRule>& rules, std::istream& text,
                                         const std::string& file) {
  std::vector<std::string> violations;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    for (const TextRule& rule : rules) {
      if (std::regex_search(line, rule.pattern)) {
        violations.push_back(fmt::format("{}:{}: {}: {}", file, number, rule.why, trimmed(line)));
      }
    }
  }
  return violations;
}

}  // namespace gpubench::checks
