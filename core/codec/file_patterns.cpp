#include "core/codec/file_patterns.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <glob.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

bool is_file(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::is_directory(path, ignored);
}

bool has_wildcard(const std::string& pattern) {
  return pattern.find_first_of("*?[") != std::string::npos;
}

class Matches {
 public:
  explicit Matches(const std::string& pattern) {
    if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found_) == GLOB_NOSPACE) {
      ::globfree(&found_);
      throw OutOfMemory("no memory for the files that match " + pattern);
    }
  }
  ~Matches() { ::globfree(&found_); }
  Matches(const Matches&) = delete;
  Matches& operator=(const Matches&) = delete;

  std::vector<std::string> files() const {
    std::vector<std::string> paths;
    for (const char* path : std::span(found_.gl_pathv, found_.gl_pathc)) {
      if (is_file(path)) paths.emplace_back(path);
    }
    std::sort(paths.begin(), paths.end());
    return paths;
  }

 private:
  glob_t found_{};
};

[[noreturn]] void nothing_found(const std::string& pattern, std::string_view operation) {
  std::error_code ignored;
  if (has_wildcard(pattern)) throw Error(fmt::format("{}: no file matches '{}'", operation, pattern));
  if (fs::is_directory(pattern, ignored)) {
    throw Error(
        fmt::format("{}: {} is a folder; its files are '{}'", operation, pattern, (fs::path(pattern) / "*").string()));
  }
  throw Error(fmt::format("{}: there is no file {}", operation, pattern));
}

void refuse_any_depth(const std::string& pattern, std::string_view operation) {
  const std::size_t stars = pattern.find("**");
  if (stars == std::string::npos) return;
  std::string one = pattern;
  one.erase(stars, 1);
  throw Error(
      fmt::format("{}: '{}': '**' does not stand for folders of any depth; give a pattern for each depth, as "
                  "'{}' for one",
                  operation, pattern, one));
}

}  // namespace

std::vector<std::string> expand_patterns(std::span<const std::string> patterns, std::string_view operation) {
  if (patterns.empty()) throw Error(fmt::format("{}: no files given; a path or a pattern is needed", operation));
  std::vector<std::string> paths;
  for (const std::string& pattern : patterns) {
    if (is_file(pattern)) {
      paths.push_back(pattern);
      continue;
    }
    refuse_any_depth(pattern, operation);
    const std::vector<std::string> found =
        has_wildcard(pattern) ? Matches(pattern).files() : std::vector<std::string>{};
    if (found.empty()) nothing_found(pattern, operation);
    paths.insert(paths.end(), found.begin(), found.end());
  }
  return paths;
}

}  // namespace gpubench
