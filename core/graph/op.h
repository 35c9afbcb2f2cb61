// The definition of an operation: its types, gradient and cost. An Op is independent of devices; backends plan it into
// kernels.
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
using Values = std::span<const Value>;
/// A gradient of 0: the output does not change with a small change of the input (rounding, indices, comparisons).
constexpr Value zero_gradient{-2, 0};

/// Relation between the memory of an output and of an input.
struct Alias {
  enum class Kind : std::uint8_t {
    may_overwrite,  ///< the kernel is correct if the output uses the input's memory (element-wise ops)
    view,           ///< the output is the input's bytes under another type; there is no kernel (reshape)
    in_place,       ///< the output is the input's memory, updated: variables, accumulators
  };
  int output = 0;
  int input = 0;
  Kind kind = Kind::may_overwrite;
};

class Op;
using OpPtr = std::shared_ptr<const Op>;

/// An input of a block form: tensors of many elements along a new first dimension, or one tensor shared by all.
struct BlockInput {
  TensorType element;
  bool shared = false;
};

/// The form of an op that computes many elements at once, along a new first dimension.
struct BlockForm {
  enum class Inputs : std::uint8_t {
    repeated,    ///< shared inputs are repeated for each element
    stretched,   ///< aligned at the last dimension for broadcasting; shared inputs stay unchanged
    as_they_are  ///< shared inputs stay unchanged
  };
  Inputs inputs = Inputs::repeated;
  OpPtr op = nullptr;  ///< none: the op itself
};

class Op {
 public:
  virtual ~Op() = default;
  /// snake_case, unique: "conv2d".
  virtual std::string_view name() const = 0;
  /// All attributes besides the input types, as text ("strides=[2, 2] padding=same"). Two ops with the same name and
  /// attributes are interchangeable: kernels are cached by both.
  virtual std::string attributes() const { return {}; }
  /// Output types for these inputs. Throws Error naming the op and its inputs.
  virtual std::vector<TensorType> infer(TensorTypes inputs) const = 0;
  /// Adds the nodes of the vector-Jacobian product to `graph` and returns one Value per input: zero_gradient where the
  /// output does not change with it, none where the op has no rule, which is an error for who asks (integers and bools
  /// need neither). `output_gradients[i]` is none if the loss does not depend on output i. Default: no rule.
  virtual std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const;
  virtual std::vector<Alias> aliases() const { return {}; }
  /// Whether the output is an input's bytes under another type, so that no kernel is needed.
  bool is_view() const;
  /// Whether the output is a sum whose terms are the inputs of its type: the terms of a sum of gradients are gradients
  /// too.
  virtual bool adds_inputs() const { return false; }
  /// Whether removing the node would change more than its outputs (a variable's update).
  bool has_effect() const;
  /// The form for blocks of `count` elements, which must give each element exactly the bytes that it gets alone. None
  /// (the default): elements are computed one after the other. At least one input is not shared.
  virtual std::optional<BlockForm> block_form(std::span<const BlockInput> inputs, std::int64_t count) const;
  /// Floating-point operations; a multiply-add counts as two. Default: one per output element.
  virtual double flops(TensorTypes inputs, TensorTypes outputs) const;
  /// Lower bound of the bytes moved. Default: all inputs read once, all outputs written once.
  virtual double bytes(TensorTypes inputs, TensorTypes outputs) const;
};

/// The op's output types for these inputs. Throws what Op::infer() throws, and Error for an output that no memory
/// holds. All who ask an op for types ask here.
std::vector<TensorType> checked_outputs(const Op& op, TensorTypes inputs);

}  // namespace gpubench
