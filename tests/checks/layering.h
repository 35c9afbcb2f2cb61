// Reads every #include of the sources against the table of layering.txt. It reads text and not the build, so that an
// include that happens to compile, through a folder that another target linked, is found all the same.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpubench::checks {

struct Include {
  std::string file;  ///< path from the repository's root
  int line;
  std::string header;
  bool quoted;
};

class LayeringTable {
 public:
  /// Throws std::runtime_error with the line that it cannot read.
  explicit LayeringTable(std::istream& text);

  /// What is wrong with an include, or an empty string.
  std::string violation(const Include& include) const;
  /// The folders and files of its rows that the repository does not have.
  std::set<std::string> absent_paths(const std::filesystem::path& root) const;

 private:
  struct VendorRule {
    std::string prefix;
    std::vector<std::string> folders;
    bool sources_only;
  };

  void add_row(const std::string& kind, const std::string& subject, std::vector<std::string> folders);
  std::string row_of(std::string_view file) const;
  void collect(const std::string& folder, std::set<std::string>& reachable) const;
  std::string project_violation(const Include& include) const;
  std::string vendor_violation(const Include& include) const;

  std::map<std::string, std::vector<std::string>, std::less<>> folders_;
  std::map<std::string, std::vector<std::string>, std::less<>> files_;
  std::vector<VendorRule> vendors_;
};

std::vector<Include> includes_of(std::istream& source, const std::string& file);

/// Every violation below core, lua and tests of a repository, as "file:line: what is wrong".
std::vector<std::string> layering_violations(const LayeringTable& table, const std::filesystem::path& root);

}  // namespace gpubench::checks
