// Stages with several sources.
//
//   concatenate(digits, more_digits)  // one after the other
//   zip({images, labels})             // side by side, as one tuple; as long as the shortest
//   enumerate(digits)                 // (number, image, label)
#pragma once
#include <vector>

#include "core/data/dataset.h"

namespace gpubench {

/// Extents that differ vary. Throws Error when the elements differ otherwise, and when the first never ends.
DatasetPtr concatenate(DatasetPtr first, DatasetPtr second);

/// Throws Error when there are no sources.
DatasetPtr zip(std::vector<DatasetPtr> sources);

/// Puts a number before each element's tensors: start, start + 1, and so on.
DatasetPtr enumerate(DatasetPtr source, std::int64_t start = 0);

}  // namespace gpubench
