// Elements of several datasets side by side, as one tuple; as long as the shortest.
//
//   zip({images, labels})
#pragma once
#include <vector>

#include "core/data/dataset.h"

namespace gpubench {

/// Throws Error when there are no sources.
DatasetPtr zip(std::vector<DatasetPtr> sources);

}  // namespace gpubench
