// Activations that are recomputed instead of kept: values of a dropped layer that gradients read are computed a second
// time just before they are read, from kept or recomputed activations of earlier layers.
#pragma once
#include <cstdint>
#include <functional>
#include <span>

#include "core/passes/pass.h"

namespace gpubench {

/// Nodes [first, middle) of a graph are a forward computation, [middle, last) its gradients.
struct GradientSection {
  std::int32_t first = 0, middle = 0, last = 0;
};

/// Makes gradients read copies (with the role `recomputed`) of the forward nodes for which `drops` is true. Nodes with
/// an effect are never copied, nor nodes that read a variable which changes before the gradients run. Random numbers
/// are a function of the step, so a copy draws the same.
Program recompute(Program program, std::span<const GradientSection> sections,
                  const std::function<bool(const Node& node)>& drops);

}  // namespace gpubench
