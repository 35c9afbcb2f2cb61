// What an operation means: its types, its derivative, its cost. An Op knows no device; backends plan it into kernels.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/tensor_type.h"

namespace gpubench {

class Graph;

/// One output of one node of a Graph. A default-constructed Value means "none".
struct Value {
  std::int32_t node = -1;
  std::int32_t output = 0;

  explicit operator bool() const { return node >= 0; }
  bool operator==(const Value&) const = default;
};

/// How an output's memory relates to an input's.
struct Alias {
  enum class Kind : std::uint8_t {
    may_overwrite,  ///< the kernel computes correctly when the output is the input's memory (element-wise ops)
    view,           ///< the output is the input's bytes under another type; there is no kernel (reshape)
    in_place,       ///< the output is the input's memory, updated: variables, accumulators
  };
  int output = 0;
  int input = 0;
  Kind kind = Kind::may_overwrite;
};

class Op;
using OpPtr = std::shared_ptr<const Op>;

/// An input as an op over blocks finds it: tensors of many elements along a new first dimension, or one for all.
struct BlockInput {
  TensorType element;
  bool shared = false;
};

/// How many elements are computed at once: by `op` on tensors with the elements along a new first dimension.
struct BlockForm {
  enum class Inputs : std::uint8_t {
    repeated,    ///< what all elements share is repeated for each of them
    stretched,   ///< aligned at the last dimension, as broadcasting has it; what is shared stays as it is
    as_they_are  ///< what is shared stays as it is
  };
  Inputs inputs = Inputs::repeated;
  OpPtr op = nullptr;  ///< none: the op itself
};

class Op {
 public:
  virtual ~Op() = default;
  /// snake_case, unique: "conv2d".
  virtual std::string_view name() const = 0;
  /// Everything besides the inputs' types that decides what is computed, as text ("strides=[2, 2] padding=same").
  /// Two ops with the same name and attributes are interchangeable: kernels are cached by both.
  virtual std::string attributes() const { return {}; }
  /// Output types for these inputs. Throws Error naming the op and what it was given.
  virtual std::vector<TensorType> infer(std::span<const TensorType> inputs) const = 0;
  /// Adds the nodes of the vector-Jacobian product to `graph` and returns one Value per input, none where no gradient
  /// flows. `output_gradients[i]` is none when output i does not reach the loss. The default: no gradient at all.
  virtual std::vector<Value> gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs,
                                      std::span<const Value> output_gradients) const;
  virtual std::vector<Alias> aliases() const { return {}; }
  /// Whether the output is an input's bytes under another type, so that there is no kernel.
  bool is_view() const;
  /// Whether the output is a sum of which inputs of its type are terms: a sum of gradients consists of gradients.
  virtual bool adds_inputs() const { return false; }
  /// Whether leaving the node out would change more than its outputs (a variable's update).
  bool has_effect() const;
  /// The form for blocks of `count` elements, which gives each element the very bytes that it gets alone; none where
  /// there is none, the default: elements are then computed one after the other. At least one input is not shared.
  virtual std::optional<BlockForm> block_form(std::span<const BlockInput> inputs, std::int64_t count) const;
  /// Floating-point operations, a multiply and an add counting two. The default: one per output element.
  virtual double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const;
  /// Bytes that must move at least. The default: all inputs read once, all outputs written once.
  virtual double bytes(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const;
};

}  // namespace gpubench
