// The rows of tensors in memory: element i is row i of each. Elements are views without copies.
//
//   DatasetPtr digits = from_tensor_slices({images, labels});  // float32[60000, 784] and float32[60000, 10]
#pragma once
#include <vector>

#include "core/data/dataset.h"

namespace gpubench {

/// Throws Error if the tensors' first dimensions differ, one is a scalar, or there are no rows.
DatasetPtr from_tensor_slices(std::vector<HostTensor> tensors);

/// A dataset of one element: the tensors themselves.
DatasetPtr from_tensors(const std::vector<HostTensor>& tensors);

}  // namespace gpubench
