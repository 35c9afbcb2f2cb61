// A piece of graph applied to tensors: eagerly, inside a trace or under a tape. The graph is built once per types of
// the tensors and device scope, so that an eager loop pays for its ops and not for describing them.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/exec/dispatcher.h"

namespace gpubench::lua {

/// What sets apart graphs that differ for the same types: training or not, which gradients are missing, which rows of a
/// batch a replica has.
struct CallVariant {
  CallVariant(int which) : kind(which) {}
  CallVariant(int which, std::int64_t first, std::int64_t all) : kind(which), first_row(first), replica_rows(all) {}
  bool operator==(const CallVariant&) const = default;
  int kind;
  std::int64_t first_row = 0, replica_rows = 0;
};

class TensorCalls {
 public:
  using Build = std::function<std::vector<gpubench::Value>(Graph& graph, std::span<const gpubench::Value> inputs)>;

  std::vector<Tensor> apply(Dispatcher& dispatcher, std::span<const Tensor> inputs, const CallVariant& variant,
                            const Build& build);

 private:
  struct Known {
    std::vector<TensorType> types;
    CallVariant variant = 0;
    DeviceId device;
    Graph graph;
    std::vector<gpubench::Value> outputs;
  };
  std::vector<std::unique_ptr<Known>> known_;  // a handful: a scan beats a hash
};

}  // namespace gpubench::lua
