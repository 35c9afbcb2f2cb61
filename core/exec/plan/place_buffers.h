// Decides which tensors of a plan share memory, and where each buffer lies in the arena of its device.
#pragma once
#include <vector>

#include "core/exec/plan/plan.h"

namespace gpubench {

/// Groups tensors that share memory. A view, or an output in place of its input, has the root of that tensor.
class SharedMemory {
 public:
  /// Adds a tensor with its own memory. Returns its index.
  int add() {
    up_.push_back(static_cast<int>(up_.size()));
    return up_.back();
  }
  void join(int tensor, int with) { up_[static_cast<std::size_t>(tensor)] = root(with); }
  int root(int tensor) {
    int& up = up_[static_cast<std::size_t>(tensor)];
    return up == tensor ? tensor : up = root(up);
  }

 private:
  std::vector<int> up_;
};

/// Gives a buffer to each tensor with Home::arena or Home::host and to each workspace, and places all buffers.
/// `aliases`: the aliases of each step's op. `side_by_side`: by device of the plan, whether steps that share no memory
/// run side by side. There the memory of small tensors is used again only some steps later, because that orders steps.
void place_buffers(Plan& plan, SharedMemory& shared, const std::vector<std::vector<Alias>>& aliases,
                   const std::vector<bool>& side_by_side);

}  // namespace gpubench
