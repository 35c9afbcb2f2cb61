#include "core/passes/recompute.h"

#include <algorithm>
#include <map>

#include "core/graph/leaf_ops.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

class Recomputing {
 public:
  Recomputing(const Program& program, const std::function<bool(const Node&)>& drops)
      : rewriter_(program), nodes_(program.graph.nodes()), drops_(drops) {
    for (std::size_t index = 0; index < nodes_.size(); ++index) {
      for (const Alias& alias : nodes_[index].op->aliases()) {
        if (alias.kind != Alias::Kind::in_place) continue;
        changes_[memory_of(nodes_[index].inputs[static_cast<std::size_t>(alias.input)])].push_back(
            static_cast<std::int32_t>(index));
      }
    }
  }

  Program run(std::span<const GradientSection> sections) {
    auto section = sections.begin();
    for (std::int32_t index = 0; index < static_cast<std::int32_t>(nodes_.size()); ++index) {
      if (section != sections.end() && index == section->last) {
        ++section;
        copies_.clear();
      }
      if (section == sections.end() || index < section->middle) {
        rewriter_.keep(index);
      } else {
        rewriter_.put(index, with_copies(index, index, *section));
      }
    }
    return rewriter_.finish();
  }

 private:
  const Node& node(std::int32_t index) const { return nodes_[static_cast<std::size_t>(index)]; }

  /// The node whose memory a value uses: an update's output is in the variable's memory.
  std::int32_t memory_of(Value value) const {
    for (const Alias& alias : node(value.node).op->aliases()) {
      if (alias.output != value.output || alias.kind == Alias::Kind::may_overwrite) continue;
      return memory_of(node(value.node).inputs[static_cast<std::size_t>(alias.input)]);
    }
    return value.node;
  }

  /// Whether `reader` gets a copy of node `index`. Copies of views cost nothing and keep nothing alive.
  bool is_dropped(std::int32_t index, std::int32_t reader, const GradientSection& section) const {
    if (index < section.first || index >= section.middle) return false;
    const Node& forward = node(index);
    if (forward.inputs.empty() || forward.op->has_effect() || (!forward.op->is_view() && !drops_(forward)))
      return false;
    return std::ranges::none_of(forward.inputs,
                                [&](Value input) { return changes_between(memory_of(input), index, reader); });
  }

  bool changes_between(std::int32_t variable, std::int32_t first, std::int32_t last) const {
    const auto changes = changes_.find(variable);
    return changes != changes_.end() &&
           std::ranges::any_of(changes->second, [&](std::int32_t at) { return first < at && at < last; });
  }

  /// Node `index`, reading copies of dropped values.
  Node with_copies(std::int32_t index, std::int32_t reader, const GradientSection& section) {
    Node copy = node(index);
    for (Value& input : copy.inputs) {
      input = is_dropped(input.node, reader, section) ? recomputed(input, reader, section) : rewriter_.map(input);
    }
    return copy;
  }

  Value recomputed(Value value, std::int32_t reader, const GradientSection& section) {
    auto known = copies_.find(value.node);
    if (known == copies_.end()) {
      Node copy = with_copies(value.node, reader, section);
      copy.role = Role::recomputed;
      copy.label += "/recomputed";
      known = copies_.emplace(value.node, rewriter_.graph().adopt(std::move(copy)).node).first;
    }
    return {known->second, value.output};
  }

  Rewriter rewriter_;
  const std::vector<Node>& nodes_;
  const std::function<bool(const Node&)>& drops_;
  std::map<std::int32_t, std::vector<std::int32_t>> changes_;  // by variable node: the nodes that update it
  std::map<std::int32_t, std::int32_t> copies_;                // by forward node of the current section
};

}  // namespace

Program recompute(Program program, std::span<const GradientSection> sections,
                  const std::function<bool(const Node& node)>& drops) {
  return Recomputing(program, drops).run(sections);
}

}  // namespace gpubench
