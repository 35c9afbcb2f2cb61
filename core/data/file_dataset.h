// A dataset that reads files and can be restricted to a part of them: the interface for sharding by file.
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

class FileDataset : public Dataset {
 public:
  using Dataset::Dataset;
  /// Number of files; 0 if this dataset does not read files after all.
  virtual std::int64_t files() const = 0;
  /// Whether each file is one element, so that skipping elements skips files.
  virtual bool file_is_element() const { return false; }
  /// The same dataset over files index, index + count, ...; at least one must exist.
  virtual DatasetPtr every(std::int64_t count, std::int64_t index) const = 0;
};

/// The source at the start of a chain of stages if it reads files; else nullptr.
inline const FileDataset* file_dataset(const Dataset& dataset) {
  const std::span<const DatasetPtr> sources = dataset.sources();
  if (const auto* source = dynamic_cast<const FileDataset*>(&dataset)) return source->files() > 0 ? source : nullptr;
  return sources.size() == 1 ? file_dataset(*sources.front()) : nullptr;
}

/// Members index, index + count, ...
template <class T>
std::vector<T> every(const std::vector<T>& all, std::int64_t count, std::int64_t index) {
  std::vector<T> some;
  for (std::int64_t i = index; i < std::ssize(all); i += count) some.push_back(all[static_cast<std::size_t>(i)]);
  return some;
}

}  // namespace gpubench
