// The files of one run, wherever they are: in its folder, or in an archive made by `gpubench pack`.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace gpubench {

class RunFiles {
 public:
  /// `place`: a folder or an archive. Throws Error for an archive that cannot be read, or that holds no run.
  explicit RunFiles(std::filesystem::path place);

  const std::filesystem::path& place() const { return place_; }
  /// The same names as for read().
  bool has(std::string_view name) const;
  /// The text of "results.csv", "run.json" or "script.lua"; of an archive nothing else is kept. Throws Error naming the
  /// file.
  std::string read(std::string_view name) const;
  /// How messages call a file.
  std::string path_of(std::string_view name) const;

 private:
  std::filesystem::path place_;
  bool is_archive_;
  std::map<std::string, std::string, std::less<>> members_;
};

/// Whether the path is a file that is named like an archive.
bool is_archive(const std::filesystem::path& path);

}  // namespace gpubench
