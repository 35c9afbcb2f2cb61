// Archives of small files: tar (POSIX.1-2001), compressed by gzip. The same entries give the same bytes: an archive has
// neither times nor owners.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace gpubench {

struct ArchiveEntry {
  /// "folder/file"
  std::string name;
  std::string bytes;
};

/// Writes the entries in their order. The file appears when it is complete. Throws Error if it cannot be written.
void write_archive(const std::filesystem::path& path, const std::vector<ArchiveEntry>& entries);

using EntryFilter = std::function<bool(const std::string& name)>;

/// The files of an archive whose names are wanted (none given: all), also of one that another program has made; folders
/// and links are left out. Other files take time only. Throws Error for a file that is no such archive, is damaged, or
/// is larger than an archive may be (core/base/input_limits.h).
std::vector<ArchiveEntry> read_archive(const std::filesystem::path& path, const EntryFilter& is_wanted = {});

}  // namespace gpubench
