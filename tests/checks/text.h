// Reads the repository's own text files line by line against the rules of text.txt. It reads folders and not git, so
// that it also works on an exported tree.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <regex>
#include <string>
#include <vector>

namespace gpubench::checks {

struct TextRule {
  std::string why;
  std::regex pattern;
};

/// Throws std::runtime_error with the line that is no rule.
std::vector<TextRule> read_text_rules(std::istream& text);

/// Our source, script and documentation files below a root, as paths from it, sorted.
std::vector<std::string> text_files(const std::filesystem::path& root);

/// Every line of a file that breaks a rule, as "file:line: why: text".
std::vector<std::string> text_violations(const std::vector<TextRule>& rules, std::istream& text,
                                         const std::string& file);

}  // namespace gpubench::checks
