// The rows of every element as elements: what batch() did, undone. They are views of the batch, nothing is copied.
//
//   unbatch(batches)
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

/// Throws Error for scalars and when the first extents of an element's tensors differ.
DatasetPtr unbatch(DatasetPtr source);

}  // namespace gpubench
