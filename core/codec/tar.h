// Archives of small files: tar (POSIX.1-2001), compressed by gzip. The same entries give the same bytes: an archive has
// neither times nor owners.
#pragma once
#include <filesystem>
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

/// The files of an archive, also of one that another program has made; folders and links are left out. Throws Error for
/// a file that is no such archive, or is damaged.
std::vector<ArchiveEntry> read_archive(const std::filesystem::path& path);

}  // namespace gpubench
