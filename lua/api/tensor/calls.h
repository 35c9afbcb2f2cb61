// Applies a piece of graph to tensors: eagerly, inside a trace or under a tape. The graph is built once per tensor
// types and device scope, so that an eager loop does not build it again.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/exec/dispatcher.h"
#include "core/nn/layer.h"

namespace gpubench::lua {

struct World;

/// Counts training calls outside fit, for layers that draw random numbers: an int64 variable created at its first use.
class CallCounter {
 public:
  /// Adds one call to the graph and returns its number.
  gpubench::Value count(Graph& graph, World& world);

 private:
  VariablePtr counter_;
};

/// Distinguishes graphs for the same types.
struct CallVariant {
  int kind = 0;                          ///< training or not; which gradients are missing
  std::int64_t first_row = 0;            ///< CallContext::first_row
  std::optional<ReplicaCall> replica{};  ///< CallContext::replica
  CallForm form{};
  std::vector<std::size_t> masked{};  ///< the inputs whose masks stand behind the arguments
  bool operator==(const CallVariant&) const = default;
};

/// The variant for calling a layer or model on `inputs`, inside a replica's step or not. `draws`: whether it draws
/// random numbers, because only then the graph depends on the first row.
CallVariant variant_of_call(const Dispatcher& dispatcher, std::span<const Tensor> inputs, bool training, bool draws);

class TensorCalls {
 public:
  /// May return no value in the place of one: a tensor without a state stands there.
  using Build = std::function<std::vector<gpubench::Value>(Graph& graph, std::span<const gpubench::Value> inputs)>;

  std::vector<Tensor> apply(Dispatcher& dispatcher, std::span<const Tensor> inputs, const CallVariant& variant,
                            const Build& build);

 private:
  struct Known {
    std::vector<TensorType> types;
    CallVariant variant;
    DeviceId device;
    Graph graph;
    std::vector<gpubench::Value> outputs;
  };
  std::vector<std::unique_ptr<Known>> known_;  // only a few, so a linear scan beats a hash
};

}  // namespace gpubench::lua
