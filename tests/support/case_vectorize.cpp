#include <algorithm>
#include <cstring>

#include "core/device/device.h"
#include "core/passes/vectorize.h"
#include "tests/support/case_checks.h"
#include "tests/support/case_inputs.h"
#include "tests/support/evaluate.h"

namespace gpubench::support {
namespace {

constexpr std::int64_t block = 3;

using Elements = std::vector<std::vector<HostTensor>>;  // by element and input

Elements draw_elements(const OpCase& op_case) {
  Elements elements;
  for (std::uint64_t draw = 0; draw < block; ++draw) elements.push_back(CaseInputs(op_case, draw).tensors);
  return elements;
}

/// The op of inputs, and of the constant that all elements share as input `shared`; -1: they share none.
Program element_program(const OpCase& op_case, const Elements& elements, int shared) {
  Program program;
  std::vector<Value> inputs;
  for (std::size_t i = 0; i < op_case.inputs.size(); ++i) {
    const bool constant = static_cast<int>(i) == shared;
    inputs.push_back(constant ? program.graph.constant(elements[0][i])
                              : program.graph.input(op_case.inputs[i].type, "input"));
  }
  const Value first = program.graph.apply(op_case.op, inputs);
  const auto outputs = static_cast<std::int32_t>(program.graph.node(first).outputs.size());
  for (std::int32_t i = 0; i < outputs; ++i) program.outputs.push_back({first.node, i});
  return program;
}

HostTensor stacked(const Elements& elements, std::size_t input) {
  TensorType type = elements[0][input].type();
  type.shape.insert(type.shape.begin(), block);
  HostTensor tensor(type);
  const std::size_t bytes = elements[0][input].bytes();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::memcpy(tensor.data() + i * bytes, elements[i][input].data(), bytes);
  }
  return tensor;
}

void check_sharing(const OpCase& op_case, const Place& place, Elements elements, int shared) {
  const Program program = element_program(op_case, elements, shared);
  const std::optional<Program> blocks = vectorize(program, block);
  if (!blocks) return;
  std::vector<HostTensor> inputs;
  for (std::size_t i = 0; i < op_case.inputs.size(); ++i) {
    if (static_cast<int>(i) != shared) inputs.push_back(stacked(elements, i));
  }
  const auto got = evaluate(*place.backend, *place.device, blocks->graph, inputs, blocks->outputs);
  for (std::size_t e = 0; e < elements.size(); ++e) {
    if (shared >= 0) elements[e][static_cast<std::size_t>(shared)] = elements[0][static_cast<std::size_t>(shared)];
    const auto want = evaluate(*place.backend, *place.device, *op_case.op, elements[e]);
    for (std::size_t i = 0; i < want.size(); ++i) {
      TensorType row = got[i].type();
      row.shape.erase(row.shape.begin());
      ASSERT_EQ(row, want[i].type());
      EXPECT_EQ(std::memcmp(got[i].data() + e * want[i].bytes(), want[i].data(), want[i].bytes()), 0)
          << "output " << i << " of element " << e << " where input " << shared << " is shared, on " << where(place);
    }
  }
}

}  // namespace

void check_vectorized(const OpCase& op_case) {
  if (op_case.op->has_effect()) return;
  const Elements elements = draw_elements(op_case);
  for (const Place& place : places()) {
    if (!place.maps) continue;
    const int inputs = static_cast<int>(op_case.inputs.size());
    for (int shared = -1; shared < (inputs > 1 ? inputs : 0); ++shared) {
      check_sharing(op_case, place, elements, shared);
    }
  }
}

}  // namespace gpubench::support
