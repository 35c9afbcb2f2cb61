// Removes casts that mixed-precision policies leave: each value is cast to a type only once, and lossless casts to a
// type and back are removed. bfloat16 to float32 and back is removed; float32 to bfloat16 and back rounds, so it stays.
//
// Updates of variables read 16-bit gradients directly and need no float32 copies.
#include <algorithm>
#include <map>
#include <tuple>

#include "core/graph/leaf_ops.h"
#include "core/ops/cast.h"
#include "core/ops/loss_scale.h"
#include "core/ops/optimizer.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

/// Whether float32 holds every value of the type, so that a cast to it loses nothing.
bool widens_to_float32(Dtype dtype) {
  constexpr Dtype narrow[] = {Dtype::f16, Dtype::bf16, Dtype::i16, Dtype::i8, Dtype::u8, Dtype::boolean};
  return std::ranges::find(narrow, dtype) != std::end(narrow);
}

class CastMerger {
 public:
  explicit CastMerger(const Program& program) : rewriter_(program) {}

  Program run(std::int32_t count) {
    for (std::int32_t index = 0; index < count; ++index) {
      if (!merge(index) && !read_narrow_gradients(index)) rewriter_.keep(index);
    }
    return rewriter_.finish();
  }

 private:
  const Node& node(std::int32_t index) const { return rewriter_.old_node({index, 0}); }
  const Cast* cast_at(std::int32_t index) const { return op_as<Cast>(node(index)); }

  bool is_memory_of_variable(Value value) const {
    for (;;) {
      const Node& from = rewriter_.old_node(value);
      if (op_as<VariableOp>(from) != nullptr) return true;
      const std::vector<Alias> aliases = from.op->aliases();
      const auto shared = std::ranges::find_if(aliases, [&](const Alias& alias) {
        return alias.output == value.output && alias.kind != Alias::Kind::may_overwrite;
      });
      if (shared == aliases.end()) return false;
      value = from.inputs[static_cast<std::size_t>(shared->input)];
    }
  }

  /// The value from which `value` is losslessly cast, for a node that can read either; `value` itself if there is none.
  Value before_widening(Value value, std::int32_t reader) const {
    const Cast* const cast = cast_at(value.node);
    if (cast == nullptr || cast->dtype != Dtype::f32) return value;
    const Value source = node(value.node).inputs[0];
    const bool same_place = node(value.node).device == node(reader).device;
    const bool exact = widens_to_float32(rewriter_.old_graph().type(source).dtype);
    return exact && same_place && !rewriter_.changes_between(source, value.node, reader) ? source : value;
  }

  bool merge(std::int32_t index) {
    const Cast* const cast = cast_at(index);
    if (cast == nullptr) return false;
    const Value given = node(index).inputs[0];
    // A conversion to integers or bool may differ if it goes through float32.
    const Value source = is_floating(cast->dtype) ? before_widening(given, index) : given;
    if (rewriter_.old_graph().type(source).dtype == cast->dtype) {
      if (is_memory_of_variable(source)) return false;  // readers may come after the variable has changed
      rewriter_.replace({index, 0}, rewriter_.map(source));
      return true;
    }
    const auto [known, first] =
        casts_.try_emplace(std::tuple(source.node, source.output, cast->dtype, node(index).device), index);
    // A recomputed value exists so that the first one need not be kept.
    if (!first && node(index).role != Role::recomputed && !rewriter_.changes_between(source, known->second, index)) {
      rewriter_.replace({index, 0}, rewriter_.map({known->second, 0}));
      return true;
    }
    known->second = index;
    if (source == given) return false;
    const Value merged[] = {rewriter_.map(source)};
    rewriter_.replace({index, 0}, rewriter_.add(index, node(index).op, merged));
    return true;
  }

  /// An optimizer's update, and the ops before it, accept gradients of any floating-point type.
  bool read_narrow_gradients(std::int32_t index) {
    const Node& reader = node(index);
    const auto* const update = op_as<OptimizerUpdate>(reader);
    const bool unscales = op_as<Unscale>(reader) != nullptr, squares = op_as<SumsOfSquares>(reader) != nullptr;
    if (update == nullptr && !unscales && !squares) return false;
    const auto first = static_cast<std::size_t>(update != nullptr ? update->leading() + update->variables
                                                : unscales        ? 1
                                                                  : 0);
    const std::size_t count =
        update != nullptr ? static_cast<std::size_t>(update->variables) : reader.inputs.size() - first;
    std::vector<Value> inputs;
    for (std::size_t i = 0; i < reader.inputs.size(); ++i) {
      const Value given = reader.inputs[i];
      Value read = given;
      if (i >= first && i < first + count) read = before_widening(given, index);
      if (!is_floating(rewriter_.old_graph().type(read).dtype)) read = given;
      inputs.push_back(rewriter_.map(read));
    }
    const Value added = rewriter_.add(index, reader.op, inputs);
    for (std::int32_t output = 0; output < static_cast<std::int32_t>(reader.outputs.size()); ++output) {
      rewriter_.replace({index, output}, {added.node, output});
    }
    return true;
  }

  Rewriter rewriter_;
  std::map<std::tuple<std::int32_t, std::int32_t, Dtype, DeviceId>, std::int32_t> casts_;
};

}  // namespace

Program merge_casts(Program program) {
  const auto count = static_cast<std::int32_t>(program.graph.nodes().size());
  return CastMerger(program).run(count);  // casts that no node reads any more are dead now
}

}  // namespace gpubench
