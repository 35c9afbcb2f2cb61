// Elements of several datasets side by side, as one tuple; as long as the shortest.
//
//   zip({images, labels})
#pragma once
#include <vector>

#include "core/data/dataset.h"

namespace gpubench {

/// Throws Error when there are no sources.
DatasetPtr zip(std::vector<DatasetPtr> sources);

/// Puts a number before each element's tensors: start, start + 1, and so on.
DatasetPtr enumerate(DatasetPtr source, std::int64_t start = 0);

}  // namespace gpubench
