// The file format of a cache: its identity, the elements one after the other, then the offset of each. Every tensor
// starts at a multiple of 64 bytes, so that mapped memory is used directly. Numbers are in this machine's byte order.
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

/// A mapped file; its elements keep it mapped.
class CacheReader {
 public:
  /// Throws Error naming the file and the fault.
  CacheReader(const std::filesystem::path& path, std::string_view identity, std::vector<TensorType> types);
  std::int64_t elements() const { return elements_; }
  void read(std::int64_t index, Element& element) const;

 private:
  std::shared_ptr<std::byte> mapped_;
  std::size_t bytes_ = 0;
  std::vector<TensorType> types_;
  std::int64_t elements_ = 0;
  std::uint64_t index_start_ = 0;
  std::string name_;
};

}  // namespace gpubench
