#include "core/ops/simple_op.h"

namespace gpubench {

std::vector<Value> SimpleOp::gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const {
  if (row_.gradient == nullptr) return Op::gradient(graph, inputs, outputs, output_gradients);
  return row_.gradient({graph, inputs, outputs, output_gradients});
}

double SimpleOp::flops(TensorTypes inputs, TensorTypes outputs) const {
  if (row_.flops_per_input == 0 && row_.flops_per_output == 0) return Op::flops(inputs, outputs);
  return row_.flops_per_input * static_cast<double>(inputs[0].elements()) +
         row_.flops_per_output * static_cast<double>(outputs[0].elements());
}

}  // namespace gpubench
