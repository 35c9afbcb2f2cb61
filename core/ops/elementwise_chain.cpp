#include "core/ops/elementwise_chain.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <typeindex>
#include <unordered_map>

#include "core/ops/bias.h"
#include "core/ops/broadcast.h"
#include "core/ops/check.h"
#include "core/ops/elementwise.h"

namespace gpubench {
namespace {

constexpr std::array function_names{
#define GPUBENCH_ROW(Kind, name, Type, domain, cost, flops) std::string_view(#name),
    GPUBENCH_FLOAT_FUNCTIONS(GPUBENCH_ROW)
#undef GPUBENCH_ROW
};

}  // namespace

std::string ElementwiseChain::attributes() const {
  std::string text;
  for (const ChainStep& step : steps) {
    const std::string_view function = function_names[static_cast<std::size_t>(step.function)];
    if (step.operand < 0) {
      text += fmt::format("{}(x) ", function);
    } else if (step.reversed) {
      text += fmt::format("{}(#{}, x) ", function, step.operand);
    } else {
      text += fmt::format("{}(x, #{}) ", function, step.operand);
    }
  }
  return text + fmt::format("dtype={}", to_string(dtype));
}

std::vector<TensorType> ElementwiseChain::infer(TensorTypes inputs) const {
  if (inputs.empty() || inputs.size() > max_inputs || steps.size() > max_steps) {
    ops::refuse(name(), fmt::format("takes 1 to {} inputs and at most {} steps, got {} and {}", max_inputs, max_steps,
                                    inputs.size(), steps.size()));
  }
  TensorType output{{}, dtype};
  ops::expect_floating(name(), output);
  for (const TensorType& input : inputs) {
    if (input.dtype == Dtype::bytes) ops::refuse(name(), fmt::format("{} is not numeric", to_string(input)));
    output.shape = ops::broadcast_shapes(name(), output.shape, input.shape);
  }
  for (const TensorType& input : inputs) {
    if (ops::stretch_of(input.shape, output.shape)) continue;
    ops::refuse(name(), fmt::format("{} stretches to {} in more than one place; join fewer ops", to_string(input),
                                    to_string(output)));
  }
  for (const ChainStep& step : steps) {
    if (step.operand < static_cast<int>(inputs.size())) continue;
    ops::refuse(name(), fmt::format("a step reads input {} of {}", step.operand, inputs.size()));
  }
  return {output};
}

std::vector<Alias> ElementwiseChain::aliases() const {
  int last = 0;
  for (const ChainStep& step : steps) last = std::max(last, step.operand);
  std::vector<Alias> result;
  for (int input = 0; input <= last; ++input) result.push_back({0, input, Alias::Kind::may_overwrite});
  return result;
}

double ElementwiseChain::flops(TensorTypes, TensorTypes outputs) const {
  return flops_per_element * static_cast<double>(outputs[0].elements());
}

namespace ops {

std::optional<math::Function> function_of(const Op& op) {
  static const std::unordered_map<std::type_index, math::Function> functions{{typeid(BiasAdd), math::Function::add},
#define GPUBENCH_ROW(Kind, name, Type, domain, cost, flops) {typeid(Type), math::Function::name},
                                                                             GPUBENCH_FLOAT_FUNCTIONS(GPUBENCH_ROW)
#undef GPUBENCH_ROW
  };
  const auto found = functions.find(typeid(op));
  if (found == functions.end()) return std::nullopt;
  return found->second;
}

std::optional<Stretch> stretch_of(const Shape& from, const Shape& to) {
  if (!broadcasts_to(from, to)) return std::nullopt;
  Stretch result;
  enum { behind, within, before } place = behind;  // of the dimensions that it keeps, seen from the last
  for (std::size_t back = 1; back <= to.size(); ++back) {
    const std::int64_t extent = to[to.size() - back];
    if (extent == 1) continue;
    const bool kept = back <= from.size() && from[from.size() - back] == extent;
    if (kept && place == before) return std::nullopt;
    if (kept) {
      place = within;
      result.period *= extent;
    } else if (place == behind) {
      result.repeat *= extent;
    } else {
      place = before;
    }
  }
  return result;
}

}  // namespace ops
}  // namespace gpubench
