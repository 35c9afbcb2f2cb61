// A recurrent layer over all its steps, as one op. Its inputs are the products of all steps' inputs with the input
// kernel, which one matmul computes; only the product with the previous state is left to each step. Tensors have the
// time first, so that a step is contiguous. The state before the first step is an input, or 0.
#pragma once
#include <span>
#include <string_view>

#include "core/graph/graph.h"

namespace gpubench {

/// With k = kernel and the parts of x and of h k in the order of the gates:
/// lstm: i, f, g, o = sigmoid, sigmoid, tanh, sigmoid of (x + h k); c = f c + i g; h = o tanh(c).
/// gru: z, r = sigmoid(x + h k); inner = h k + bias; g = tanh(x + r inner); h = z h + (1 - z) g.
enum class RecurrentCell : std::uint8_t { lstm, gru };

/// "lstm", "gru".
std::string_view to_string(RecurrentCell cell);
/// 4 for lstm, else 3.
std::int64_t gates_of(RecurrentCell cell);
/// Number of a recurrence's inputs in front of its extras.
std::size_t own_inputs(RecurrentCell cell);

struct RecurrentAttributes {
  RecurrentCell cell = RecurrentCell::lstm;
  bool backwards = false;  ///< from the last step to the first
  /// The product of gate g is of h times the factors of g, the same in all steps; outside of products, h stays whole.
  /// The kernel is then [gates, units, units] instead of [units, gates * units].
  bool dropout = false;
  /// At masked steps, states and memory are those of the step before.
  bool masked = false;
  bool initial = false;    ///< whether the states before the first step are inputs; else they are 0
  bool of_memory = false;  ///< of the gradient of an lstm: whether its memory has a gradient too
};

/// Extents of a recurrent op.
struct RecurrentExtents {
  std::int64_t steps, batch, units;
};

/// The inputs that a recurrent op has with these attributes only, behind its others; null for none.
template <class T>
struct RecurrentExtras {
  RecurrentExtras(const RecurrentAttributes& options, std::span<const T> extras) {
    const T* next = extras.data();
    if (options.dropout) factors = next++;
    if (options.masked) mask = next++;
    if (options.initial) state = next++;
    if (options.initial && options.cell == RecurrentCell::lstm) memory = next++;
    if (options.of_memory) dmemory = next;
  }
  const T* factors = nullptr;  ///< [batch, gates * units]: 0 for dropped units
  const T* mask = nullptr;     ///< bool [steps, batch]: false for masked steps
  const T* state = nullptr;    ///< [batch, units]: before the first step
  const T* memory = nullptr;   ///< lstm: [batch, units], before the first step
  const T* dmemory = nullptr;  ///< of the gradient: [steps, batch, units]
};

/// x [steps, batch, gates * units], kernel [units, gates * units] or [gates, units, units][, gru: bias [units]][,
/// extras] -> states [steps, batch, units], memory [steps, batch, units] (lstm: c, gru: inner), gates [steps, batch,
/// gates * units]. The memory of an lstm has a gradient, that of a gru and the gates are for the gradient alone; at
/// masked steps, the gates and the memory of a gru are 0.
class Recurrence final : public Op {
 public:
  explicit Recurrence(RecurrentAttributes given) : options(given) {}
  std::string_view name() const override { return "recurrence"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  std::vector<Alias> aliases() const override { return {{2, 0, Alias::Kind::may_overwrite}}; }
  /// Products with the states, of which the first step has none without initial ones, and the cells.
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const RecurrentAttributes options;
};

/// kernel, states, memory, gates, dstates[, extras] -> dx, dkernel[, gru: dbias][, dstate[, lstm: dmemory] of the
/// initial ones]
class RecurrenceGradient final : public Op {
 public:
  explicit RecurrenceGradient(RecurrentAttributes given) : options(given) {}
  std::string_view name() const override { return "recurrence_gradient"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Alias> aliases() const override { return {{0, 3, Alias::Kind::may_overwrite}}; }
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const RecurrentAttributes options;
};

/// Of the states or of any other tensor [steps, batch, units].
RecurrentExtents recurrent_extents(const TensorType& states);

namespace ops {

/// Inputs of a recurrence; none: not used. The attributes `dropout`, `masked` and `initial` follow from them.
struct RecurrentInputs {
  Value x, kernel;
  Value bias{};  ///< gru
  Value factors{}, mask{};
  Value state{}, memory{};  ///< before the first step; memory: lstm
};
/// The states of all steps. The memory of an lstm is output 1 of the same node.
Value recurrence(Graph& graph, const RecurrentInputs& inputs, RecurrentAttributes options);

}  // namespace ops
}  // namespace gpubench
