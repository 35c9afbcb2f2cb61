// A piece of graph applied to tensors: eagerly, inside a trace or under a tape. The graph is built once per types of
// the tensors and device scope, so that an eager loop pays for its ops and not for describing them.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/exec/dispatcher.h"

namespace gpubench::lua {

class TensorCalls {
 public:
  using Build = std::function<std::vector<gpubench::Value>(Graph& graph, std::span<const gpubench::Value> inputs)>;

  /// `variant` sets apart graphs that differ for the same types (training or not).
  std::vector<Tensor> apply(Dispatcher& dispatcher, std::span<const Tensor> inputs, int variant, const Build& build);

 private:
  struct Known {
    std::vector<TensorType> types;
    int variant = 0;
    DeviceId device;
    Graph graph;
    std::vector<gpubench::Value> outputs;
  };
  std::vector<std::unique_ptr<Known>> known_;  // a handful: a scan beats a hash
};

}  // namespace gpubench::lua
