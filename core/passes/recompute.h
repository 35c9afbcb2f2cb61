// Activations that are computed twice instead of being kept: what gradients read of a dropped layer is computed a
// second time just before they read it, from kept or recomputed activations of the layers before.
#pragma once
#include <cstdint>
#include <functional>
#include <span>

#include "core/passes/pass.h"

namespace gpubench {

/// Nodes [first, middle) of a graph are a forward computation, [middle, last) the gradients of it.
struct GradientSection {
  std::int32_t first = 0, middle = 0, last = 0;
};

/// Gradients read copies, in the role of recomputed nodes, of those forward nodes for which `drops` holds. Never copied
/// are nodes with an effect, and nodes that read a variable which changes before the gradients do. Random numbers are a
/// function of the step, so a copy draws the same.
Program recompute(Program program, std::span<const GradientSection> sections,
                  const std::function<bool(const Node& node)>& drops);

}  // namespace gpubench
