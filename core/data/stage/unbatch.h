// The rows of every element as elements: the inverse of batch(). They are views of the batch, without copies.
//
//   unbatch(batches)
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

/// Throws Error for scalars and if the first extents of an element's tensors differ.
DatasetPtr unbatch(DatasetPtr source);

}  // namespace gpubench
