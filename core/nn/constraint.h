// Constraints of weights, which optimizers apply after each update. Names, formulas and defaults are those of Keras.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"

namespace gpubench {

struct Constraint {
  enum class Kind : std::uint8_t {
    max_norm,      ///< lengths along the axes of at most max_value
    min_max_norm,  ///< of min_value to max_value, to which each update brings them by the share `rate`
    non_neg,
    unit_norm,
  };
  Kind kind = Kind::non_neg;
  double min_value = 0, max_value = 1, rate = 1;
  std::vector<std::int64_t> axes{0};
};

/// "max_norm", "min_max_norm", "non_neg", "unit_norm", or with arguments "max_norm(max_value=2, axis=[0, 1])". Throws
/// Error listing the names.
Constraint parse_constraint(std::string_view text);
std::string to_string(const Constraint& constraint);

/// `weights` as the constraint wants them.
Value constrained(Graph& graph, Value weights, const Constraint& constraint);

/// Adds the assignment that its layer's options want of an updated variable, if any. `keep`, bool [], leaves the
/// variable as it is; none: never.
void apply_constraint(Graph& graph, const VariablePtr& variable, Value keep);

}  // namespace gpubench
