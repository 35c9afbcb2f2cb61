// Stages with several sources.
//
//   concatenate(digits, more_digits)  // one after the other
//   zip({images, labels})             // side by side, as one tuple; as long as the shortest
//   enumerate(digits)                 // (number, image, label)
#pragma once
#include <vector>

#include "core/data/dataset.h"

namespace gpubench {

/// Extents that differ become varying. Throws Error if the elements differ otherwise, and if `first` is infinite.
DatasetPtr concatenate(DatasetPtr first, DatasetPtr second);

/// Throws Error if there are no sources.
DatasetPtr zip(std::vector<DatasetPtr> sources);

/// Prepends a number to each element's tensors: start, start + 1, ...
DatasetPtr enumerate(DatasetPtr source, std::int64_t start = 0);

}  // namespace gpubench
