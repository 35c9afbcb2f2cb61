#include "core/data/file_source.h"

namespace gpubench {

const FileSource* file_source(const Dataset& dataset) {
  const std::span<const DatasetPtr> sources = dataset.sources();
  if (const auto* source = dynamic_cast<const FileSource*>(&dataset)) return source->files() > 0 ? source : nullptr;
  return sources.size() == 1 ? file_source(*sources.front()) : nullptr;
}

}  // namespace gpubench
