// A dataset of elements that lie ready in memory: what a training gets when its pipeline costs nothing.
#pragma once
#include <vector>

#include "core/data/dataset.h"

namespace gpubench {

/// Takes elements from `cursor` until it ends, `most` are taken or they have `most_bytes`; at least one. Throws Error
/// when there is none.
std::vector<Element> kept_elements(Cursor& cursor, std::size_t most, std::size_t most_bytes);

/// Hands the same memory out over and over, in an epoch that never ends: opening one costs a pipeline, and is no part
/// of handing over what lies ready.
DatasetPtr over_and_over(std::vector<Element> elements, std::vector<TensorType> types);

}  // namespace gpubench
