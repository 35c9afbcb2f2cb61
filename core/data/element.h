// One item of a dataset: a small tuple of host tensors, which share ownership of their memory with whoever made them.
// An Element that is passed to next() again and again keeps its own bookkeeping, so a warm pipeline allocates nothing.
#pragma once
#include <vector>

#include "core/tensor/host_tensor.h"

namespace gpubench {

using Element = std::vector<HostTensor>;

/// Lets go of the tensors' memory, but keeps the element's bookkeeping for the next use.
inline void release(Element& element) {
  for (HostTensor& tensor : element) tensor.release();
}

}  // namespace gpubench
