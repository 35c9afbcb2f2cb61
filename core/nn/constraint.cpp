#include "core/nn/constraint.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/nn/named_arguments.h"
#include "core/nn/weight_options.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/reduce.h"
#include "core/ops/state.h"

namespace gpubench {
namespace {

struct NamedConstraint {
  std::string_view name;
  Constraint::Kind kind;
  double max_value;  ///< unless given
  std::string_view arguments;
};
constexpr std::array named_constraints = {
    NamedConstraint{"max_norm", Constraint::Kind::max_norm, 2, "max_value, axis"},
    NamedConstraint{"min_max_norm", Constraint::Kind::min_max_norm, 1, "min_value, max_value, rate, axis"},
    NamedConstraint{"non_neg", Constraint::Kind::non_neg, 1, ""},
    NamedConstraint{"unit_norm", Constraint::Kind::unit_norm, 1, "axis"},
};

/// "0", or "[0, 1]".
std::vector<std::int64_t> parse_axes(std::string_view text, const std::string& owner) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  std::vector<std::int64_t> axes;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view one = text.substr(0, comma);
    while (one.starts_with(' ')) one.remove_prefix(1);
    const double axis = parse_argument(one, owner);
    axes.push_back(static_cast<std::int64_t>(axis));
    if (axis < -32 || axis > 32 || static_cast<double>(axes.back()) != axis)
      throw Error(fmt::format("{}: '{}' is no axis", owner, one));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  if (axes.empty()) throw Error(fmt::format("{}: axis must name at least one axis", owner));
  return axes;
}

void check_constraint(const Constraint& constraint, const std::string& owner) {
  const auto refuse = [&](std::string_view what) { throw Error(fmt::format("{}: {}", owner, what)); };
  if (!(constraint.min_value >= 0 && constraint.max_value >= constraint.min_value)) {
    refuse(fmt::format("lengths are at least 0, and max_value at least min_value, got {} to {}", constraint.min_value,
                       constraint.max_value));
  }
  if (!(constraint.rate >= 0 && constraint.rate <= 1)) {
    refuse(fmt::format("rate must be 0 to 1, got {}", constraint.rate));
  }
}

}  // namespace

Constraint parse_constraint(std::string_view text) {
  const auto parsed = parse_named_arguments(text);
  for (const NamedConstraint& row : named_constraints) {
    if (!parsed || row.name != parsed->name) continue;
    Constraint constraint{.kind = row.kind, .max_value = row.max_value};
    const std::string owner = fmt::format("constraint '{}'", text);
    for (const auto& [name, value] : parsed->arguments) {
      const bool known = fmt::format(", {},", row.arguments).find(fmt::format(" {},", name)) != std::string::npos;
      if (!known) throw Error(fmt::format("{}: unknown argument '{}'", owner, name));
      if (name == "axis")
        constraint.axes = parse_axes(value, owner);
      else
        (name == "rate"        ? constraint.rate
         : name == "min_value" ? constraint.min_value
                               : constraint.max_value) = parse_argument(value, owner);
    }
    check_constraint(constraint, owner);
    return constraint;
  }
  throw_unknown_name("unknown constraint", text, names_of(named_constraints, &NamedConstraint::name),
                     "; or with arguments, such as max_norm(max_value=2)", "constraint");
}

std::string to_string(const Constraint& constraint) {
  const auto& row = *std::ranges::find(named_constraints, constraint.kind, &NamedConstraint::kind);
  const std::string axis = fmt::format("axis=[{}]", fmt::join(constraint.axes, ", "));
  switch (constraint.kind) {
    case Constraint::Kind::max_norm:
      return fmt::format("{}(max_value={}, {})", row.name, constraint.max_value, axis);
    case Constraint::Kind::min_max_norm:
      return fmt::format("{}(min_value={}, max_value={}, rate={}, {})", row.name, constraint.min_value,
                         constraint.max_value, constraint.rate, axis);
    case Constraint::Kind::unit_norm:
      return fmt::format("{}({})", row.name, axis);
    case Constraint::Kind::non_neg:
      break;
  }
  return std::string(row.name);
}

namespace {

/// Whose axes the variable has.
Constraint constraint_of(const Variable& variable, std::string_view text) {
  Constraint constraint = parse_constraint(text);
  const std::int64_t rank = variable.type.rank();
  for (const std::int64_t axis : constraint.axes) {
    if (constraint.kind == Constraint::Kind::non_neg || (axis >= -rank && axis < rank)) continue;
    throw Error(fmt::format("constraint '{}': axis {} is outside the variable '{}', {}", text, axis, variable.name,
                            to_string(variable.type)));
  }
  return constraint;
}

}  // namespace

Value constrained(Graph& graph, Value weights, const Constraint& constraint) {
  constexpr double least_length = 1e-7;  // of Keras
  const auto number = [&](double value) { return ops::scalar(graph, value, Dtype::f32); };
  const Value wide = ops::cast(graph, weights, Dtype::f32);
  Value result;
  if (constraint.kind == Constraint::Kind::non_neg) {
    result = ops::maximum(graph, wide, number(0));
  } else {
    const Value length = ops::sqrt(graph, ops::reduce_sum(graph, ops::square(graph, wide), constraint.axes, true));
    Value wanted = number(1);
    if (constraint.kind != Constraint::Kind::unit_norm) {
      wanted =
          ops::minimum(graph, ops::maximum(graph, length, number(constraint.min_value)), number(constraint.max_value));
      if (constraint.rate != 1) {
        wanted = ops::add(graph, ops::mul(graph, wanted, number(constraint.rate)),
                          ops::mul(graph, length, number(1 - constraint.rate)));
      }
    }
    result = ops::mul(graph, wide, ops::div(graph, wanted, ops::add(graph, length, number(least_length))));
  }
  return ops::cast(graph, result, graph.type(weights).dtype);
}

void apply_constraint(Graph& graph, const VariablePtr& variable, Value keep) {
  if (variable->owner == nullptr) return;
  for (const Owner::WeightText& wanted : variable->owner->constraints) {
    const bool of_part = wanted.part.empty() || variable->name.find("/" + wanted.part) != std::string::npos;
    if (!of_part || !holds_for(wanted.variable, *variable)) continue;
    const GraphScope scope(graph, variable->device, graph.origin().owner, Role::update);
    const Value weights = graph.variable(variable);
    const Value result = constrained(graph, weights, constraint_of(*variable, wanted.text));
    ops::assign(graph, weights, keep ? ops::select(graph, keep, weights, result) : result);
  }
}

}  // namespace gpubench
