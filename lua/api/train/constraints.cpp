// gb.constraints: spells out constraints of weights, as layers take them.
#include <array>

#include "core/nn/constraint.h"
#include "lua/api/openers.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

using NormAxes = std::variant<std::int64_t, std::vector<std::int64_t>>;

std::vector<std::int64_t> axes_of(const NormAxes& axes) {
  if (const auto* const one = std::get_if<std::int64_t>(&axes)) return {*one};
  return std::get<std::vector<std::int64_t>>(axes);
}

/// Checked as the layer's text is.
std::string text_of_constraint(const Constraint& constraint) {
  std::string text = to_string(constraint);
  parse_constraint(text);
  return text;
}

struct MaxNormOptions {
  double max_value = 2;
  NormAxes axis = std::int64_t{0};
  static constexpr auto fields =
      std::tuple{field("max_value", &MaxNormOptions::max_value), field("axis", &MaxNormOptions::axis)};
};
struct MinMaxNormOptions {
  double min_value = 0, max_value = 1, rate = 1;
  NormAxes axis = std::int64_t{0};
  static constexpr auto fields =
      std::tuple{field("min_value", &MinMaxNormOptions::min_value), field("max_value", &MinMaxNormOptions::max_value),
                 field("rate", &MinMaxNormOptions::rate), field("axis", &MinMaxNormOptions::axis)};
};
struct UnitNormOptions {
  NormAxes axis = std::int64_t{0};
  static constexpr auto fields = std::tuple{field("axis", &UnitNormOptions::axis)};
};

constexpr std::array max_norm_positions{"max_value", "axis"};
constexpr std::array min_max_norm_positions{"min_value", "max_value", "rate", "axis"};
constexpr std::array unit_norm_positions{"axis"};

std::string max_norm(const MaxNormOptions& options) {
  return text_of_constraint(
      {.kind = Constraint::Kind::max_norm, .max_value = options.max_value, .axes = axes_of(options.axis)});
}

std::string min_max_norm(const MinMaxNormOptions& options) {
  return text_of_constraint({.kind = Constraint::Kind::min_max_norm,
                             .min_value = options.min_value,
                             .max_value = options.max_value,
                             .rate = options.rate,
                             .axes = axes_of(options.axis)});
}

std::string non_neg() {
  return text_of_constraint({.kind = Constraint::Kind::non_neg});
}

std::string unit_norm(const UnitNormOptions& options) {
  return text_of_constraint({.kind = Constraint::Kind::unit_norm, .axes = axes_of(options.axis)});
}

}  // namespace

void open_constraints(lua_State* L) {
  const Module gb = Module::root(L);
  gb.submodule("constraints")
      .constructor<&max_norm, max_norm_positions>("MaxNorm")
      .constructor<&min_max_norm, min_max_norm_positions>("MinMaxNorm")
      .function<&non_neg>("NonNeg")
      .constructor<&unit_norm, unit_norm_positions>("UnitNorm");
}

}  // namespace gpubench::lua
