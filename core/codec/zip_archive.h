// Reads zip archives by their central directory: stored and deflated entries, zip64 sizes, checksums verified. Enough
// for .npz; encryption and archives in several parts are refused.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gpubench {

class ZipArchive {
 public:
  struct Entry {
    std::string name;
    std::uint16_t flags = 0;
    std::uint16_t method = 0;
    std::uint32_t crc32 = 0;
    std::uint64_t compressed_size = 0;
    std::uint64_t size = 0;
    std::uint64_t header_offset = 0;
  };

  /// Reads the directory. Throws Error when there is none or it is damaged.
  explicit ZipArchive(std::filesystem::path path);
  const std::vector<Entry>& entries() const { return entries_; }
  /// The entry's bytes, inflated. Throws Error naming file and entry.
  std::vector<std::byte> read(const Entry& entry) const;

 private:
  std::filesystem::path path_;
  std::uint64_t file_size_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace gpubench
