// The node that the calling thread launches, while steps are traced. A device whose clock runs ahead of the host's, as
// an emulated one's does, cannot tell by times which span of the host a launch lies in.
#pragma once
#include "core/trace/timeline.h"

namespace gpubench {

/// Of the calling thread; none outside a LaunchingNode.
NodeId launching_node();

class LaunchingNode {
 public:
  explicit LaunchingNode(NodeId node);
  ~LaunchingNode();
  LaunchingNode(const LaunchingNode&) = delete;
  LaunchingNode& operator=(const LaunchingNode&) = delete;
};

}  // namespace gpubench
