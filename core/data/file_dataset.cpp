#include "core/data/file_dataset.h"

namespace gpubench {

const FileDataset* file_dataset(const Dataset& dataset) {
  const std::span<const DatasetPtr> sources = dataset.sources();
  if (const auto* source = dynamic_cast<const FileDataset*>(&dataset)) return source->files() > 0 ? source : nullptr;
  return sources.size() == 1 ? file_dataset(*sources.front()) : nullptr;
}

}  // namespace gpubench
