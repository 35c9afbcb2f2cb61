// Keeps the elements of the first complete epoch, in memory or in a file; later epochs read them from there. The source
// is always read as its epoch 0, so that the kept elements do not depend on the number of the first epoch.
//
//   cache(decoded)                   // rows of tensors from then on, where the elements' types are fixed
//   cache(decoded, "photos.cache")   // mapped; survives the program
#pragma once
#include <cstddef>
#include <filesystem>

#include "core/data/dataset.h"

namespace gpubench {

/// In memory, of at most `limit` bytes; 0: half of what is free when the epoch starts. Throws Error when it is known
/// beforehand that the elements need more than a given limit; else the epoch does, and when memory runs out.
DatasetPtr cache(DatasetPtr source, std::size_t limit = 0);

/// In a file, which appears when an epoch is complete. Opening an epoch throws Error naming the file when it is cut
/// short, no cache, or of another dataset (other stages, settings, names of files or types; functions and values are
/// not compared).
DatasetPtr cache(DatasetPtr source, std::filesystem::path file);

}  // namespace gpubench
