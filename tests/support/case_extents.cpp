// Every OpCase without elements and without dimensions: with an extent of 0 in each place where one may be, and with
// scalars. The op and its gradient are computed, every element of it, or refused by the op's name.
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <set>

#include "core/base/error.h"
#include "core/device/device.h"
#include "core/graph/graph.h"
#include "tests/support/case_checks.h"
#include "tests/support/evaluate.h"

namespace gpubench::support {
namespace {

using Types = std::vector<TensorType>;

std::vector<Types> variants_of(const OpCase& op_case) {
  Types given;
  std::set<std::int64_t> extents;
  for (const CaseInput& input : op_case.inputs) {
    given.push_back(input.type);
    extents.insert(input.type.shape.begin(), input.type.shape.end());
  }
  std::vector<Types> variants;
  constexpr std::size_t most_inputs = 8;  // ops of more take any number of a kind
  for (std::size_t i = 0; i < std::min(given.size(), most_inputs); ++i) {
    for (std::size_t axis = 0; axis < given[i].shape.size(); ++axis) {
      variants.push_back(given);
      variants.back()[i].shape[axis] = 0;
    }
    variants.push_back(given);
    variants.back()[i].shape.clear();
  }
  // Extents that are equal often have to be.
  for (const std::int64_t extent : extents) {
    variants.push_back(given);
    for (TensorType& type : variants.back()) std::ranges::replace(type.shape, extent, 0);
  }
  variants.push_back(given);
  for (TensorType& type : variants.back()) type.shape.clear();
  std::erase(variants, given);  // an input that is a scalar already made no variant
  return variants;
}

HostTensor filled(const TensorType& type, double low) {
  Array array(type);
  for (double& value : array.values) value = is_floating(type.dtype) ? 0.5 : low;
  return to_tensor(array);
}

void expect_written(const HostTensor& tensor, const std::string& what) {
  if (tensor.dtype() != Dtype::f32) return;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, tensor.data() + static_cast<std::size_t>(i) * sizeof bits, sizeof bits);
    ASSERT_NE(bits, UINT32_MAX) << what << ": element " << i << " was not written";
  }
}

/// The op, its inputs and the gradients of its outputs as a graph.
struct Described {
  Graph graph;
  std::vector<HostTensor> inputs;
  std::vector<Value> results;
};

Described describe(const OpCase& op_case, const Types& types) {
  static_cast<void>(op_case.op->infer(types));  // most are refused here, before large inputs are filled
  Described made;
  std::vector<Value> inputs, outputs, output_gradients;
  const auto input = [&](const TensorType& type, double low) {
    made.inputs.push_back(filled(type, low));
    return made.graph.input(type, "input");
  };
  for (std::size_t i = 0; i < types.size(); ++i) inputs.push_back(input(types[i], op_case.inputs[i].low));
  const Value first = made.graph.apply(op_case.op, inputs);
  const std::size_t count = made.graph.node(first).outputs.size();
  bool reached = false;
  for (std::size_t i = 0; i < count; ++i) {
    outputs.push_back({first.node, static_cast<std::int32_t>(i)});
    const TensorType type = made.graph.type(outputs.back());
    output_gradients.push_back(is_floating(type.dtype) && i < op_case.saved_from ? input(type, 0) : Value{});
    reached = reached || output_gradients.back();
  }
  made.results = outputs;
  if (!op_case.differentiable || !reached) return made;
  for (const Value gradient : op_case.op->gradient(made.graph, inputs, outputs, output_gradients))
    if (gradient) made.results.push_back(gradient);
  return made;
}

}  // namespace

void check_extents(const OpCase& op_case) {
  for (const Types& types : variants_of(op_case)) {
    std::string given;
    for (const TensorType& type : types) given += " " + to_string(type);
    SCOPED_TRACE(fmt::format("{} {} of{}", op_case.op->name(), op_case.op->attributes(), given));
    for (const Place& place : places()) {
      try {
        const Described made = describe(op_case, types);
        for (const HostTensor& result : evaluate(*place.backend, *place.device, made.graph, made.inputs, made.results))
          // A row that does not exist is NaN with all bits set on a GPU, like memory that nothing wrote.
          if (op_case.op->name() != "gather") expect_written(result, where(place));
      } catch (const Error& error) {
        EXPECT_NE(std::string_view(error.what()).find(": "), std::string_view::npos) << error.what();
      }
    }
  }
}

}  // namespace gpubench::support
