// Keeps the elements of the first complete epoch in memory or in a file; later epochs read them from there. The source
// is always opened as epoch 0, so that the kept elements do not depend on which epoch runs first.
//
//   cache(decoded)                   // in memory, as rows of tensors if the elements' types are fixed
//   cache(decoded, "photos.cache")   // a file, kept after the program ends
#pragma once
#include <cstddef>
#include <filesystem>

#include "core/data/dataset.h"

namespace gpubench {

/// In memory, up to `limit` bytes; 0: half of the free memory when the epoch starts. Throws Error if the elements are
/// known to exceed a given limit; otherwise the epoch throws when it exceeds the limit or memory runs out.
DatasetPtr cache(DatasetPtr source, std::size_t limit = 0);

/// In a file, which appears when an epoch is complete. Opening an epoch throws Error naming the file if it is cut
/// short, is no cache, or belongs to another dataset (different stages, settings, file names or types; functions and
/// values are not compared).
DatasetPtr cache(DatasetPtr source, std::filesystem::path file);

}  // namespace gpubench
