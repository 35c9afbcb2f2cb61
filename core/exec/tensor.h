// A tensor for scripts and eager code: either concrete (memory on a device) or symbolic (a value of the graph being
// traced). A Tensor is a handle: copies share the memory, and tapes identify tensors by their handle.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/device/memory_pool.h"
#include "core/graph/graph.h"
#include "core/tensor/device_id.h"
#include "core/tensor/tensor_view.h"

namespace gpubench {

struct TracedReplica;

/// A graph under construction, shared by the tensors that are its values.
struct Trace {
  /// A value that a script may intend to branch on, and where it was created: "map.lua:12: Tensor:gt".
  struct Condition {
    Value value;
    std::string origin;
  };

  Graph graph;
  std::vector<Condition> conditions{};
  /// Of the function of a layer: what it, and layers that it calls, add to the loss; float32 [] each.
  std::vector<Value> losses{};
  /// Adds the number of this call of the function, for Graph::step(). None: each graph counts its own calls.
  std::function<Value(Graph&)> count_calls{};
  /// The function of a dataset: its random ops draw by the element's number, which stands in for step 0.
  bool by_element = false;
  const TracedReplica* replica = nullptr;  ///< the replica whose step is traced; null after the trace
  /// Floating-point variables are cast to this type where they are read, as layers cast their weights.
  std::optional<Dtype> variables_as{};
};

class Tensor {
 public:
  Tensor() = default;
  /// Memory that the tensor owns.
  Tensor(TensorType type, DeviceId device, Buffer buffer);
  /// Memory that the caller keeps alive.
  Tensor(TensorType type, DeviceId device, std::byte* memory);
  /// Memory with shared ownership.
  Tensor(TensorType type, DeviceId device, std::shared_ptr<std::byte> memory);
  /// The memory of a variable; reads see every update.
  Tensor(VariablePtr variable, std::byte* memory);
  /// A view: `base`'s memory from `offset` bytes on, with a type of its own (reshape) or as another tensor of its type.
  Tensor(TensorType type, const Tensor& base, std::size_t offset = 0);
  /// A value of a graph under construction.
  Tensor(std::shared_ptr<Trace> trace, Value value);

  explicit operator bool() const { return state_ != nullptr; }
  const TensorType& type() const { return state_->type; }
  const DeviceId& device() const { return state_->device; }
  bool symbolic() const { return state_->trace != nullptr; }
  /// The variable that this is a handle of; null for other tensors, views of a variable's memory among them.
  VariablePtr variable() const { return state_->viewed ? nullptr : state_->variable; }
  /// The variable whose memory this reads, also as a view (reshape, stop_gradient); null for other tensors.
  const VariablePtr& variable_read() const { return state_->variable; }
  /// Throws Error for a symbolic tensor.
  TensorView view() const {
    if (symbolic()) refuse_values();
    return {&state_->type, state_->data};
  }
  /// Shares ownership of the memory; null for variables and for memory that the caller keeps alive.
  std::shared_ptr<std::byte> memory() const {
    if (state_->owner == nullptr) return nullptr;
    return {std::const_pointer_cast<void>(state_->owner), state_->data};
  }
  /// Whether nothing else reads the memory: no other tensor, and no one who has taken memory().
  bool alone() const { return state_.use_count() == 1 && state_->owner.use_count() == 1; }
  /// Symbolic tensors only.
  const std::shared_ptr<Trace>& trace() const { return state_->trace; }
  Value value() const { return state_->value; }
  /// The mask that came with the value: bools [batch, steps], false for padding; null for none. It belongs to the
  /// handle and its copies, as Keras keeps it in an attribute, so ops return values without masks.
  const Tensor* mask() const { return mask_.get(); }
  Tensor with_mask(Tensor mask) const;
  /// Equal for handles of the same tensor.
  const void* identity() const { return state_.get(); }
  bool operator==(const Tensor& other) const { return state_ == other.state_; }

 private:
  struct State {
    TensorType type;
    DeviceId device;
    std::shared_ptr<const void> owner;  // of the memory; null if the caller keeps it alive
    std::byte* data = nullptr;
    VariablePtr variable;
    std::shared_ptr<Trace> trace;
    Value value;
    bool viewed = false;  // memory of another tensor
  };
  [[noreturn]] static void refuse_values();

  std::shared_ptr<const State> state_;
  std::shared_ptr<const Tensor> mask_;
};

}  // namespace gpubench
