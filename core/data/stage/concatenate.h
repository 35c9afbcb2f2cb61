// One dataset after the other.
//
//   concatenate(digits, more_digits)
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

/// Extents that differ vary. Throws Error when the elements differ otherwise, and when the first never ends.
DatasetPtr concatenate(DatasetPtr first, DatasetPtr second);

/// The types that elements of both have: extents that differ vary. None when they differ otherwise.
std::optional<std::vector<TensorType>> common_types(std::span<const TensorType> a, std::span<const TensorType> b);

}  // namespace gpubench
