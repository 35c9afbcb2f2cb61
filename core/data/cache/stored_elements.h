// The file format of a cache: its identity, the elements one after the other, then the offset of each. Every tensor
// starts at a multiple of 64 bytes, so that blocks of the file are used as they are read. The file is not mapped:
// whoever shortened it would end the program. Numbers are in this machine's byte order.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/codec/output_file.h"
#include "core/data/dataset.h"
#include "core/data/element.h"

namespace gpubench {

/// What must be equal between a file and the dataset that uses it: stages with their settings, number of elements and
/// their types.
std::string cache_identity(const Dataset& source);

class CacheWriter {
 public:
  /// Throws Error when the file cannot be written.
  CacheWriter(const std::filesystem::path& path, std::string_view identity);
  void write(const Element& element);
  /// Completes the file, which now appears under its name.
  void finish();
  std::int64_t elements() const { return static_cast<std::int64_t>(starts_.size()); }

 private:
  void put(const void* bytes, std::size_t size);
  void align();
  void flush();

  OutputFile file_;
  std::vector<std::byte> pending_;
  std::uint64_t written_ = 0;
  std::vector<std::uint64_t> starts_;
};

class CacheFile;

/// Reads a file by blocks; elements share the memory of theirs.
class CacheReader {
 public:
  /// Throws Error naming the file and the fault.
  CacheReader(const std::filesystem::path& path, std::string_view identity, std::vector<TensorType> types);
  std::int64_t elements() const { return std::ssize(starts_) - 1; }
  void read(std::int64_t index, Element& element);

 private:
  std::shared_ptr<const CacheFile> file_;
  std::string name_;
  std::vector<TensorType> types_;
  std::vector<std::uint64_t> starts_;  ///< of the elements, then their end
  std::shared_ptr<std::byte> block_;
  std::uint64_t block_start_ = 0, block_end_ = 0;
};

}  // namespace gpubench
