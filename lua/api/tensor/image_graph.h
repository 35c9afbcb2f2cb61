// What the functions of gb.image share: compositions of ops, computed at once or added to a trace.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "core/graph/graph.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/tensor/trace.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

/// `Value` alone is the representation of a type in Lua.
using GraphValue = gpubench::Value;

/// Numbers are those of one step of a seed. Without a step, as gb.random: one draw of a seed of its own; in a map, one
/// for each element; in another function that is traced, one for each call.
struct RandomImageOptions {
  std::optional<std::uint64_t> seed;
  Tensor step = {};
  static constexpr auto fields =
      std::tuple{field("seed", &RandomImageOptions::seed), field("step", &RandomImageOptions::step)};

  std::uint64_t seed_in(lua_State* L) const { return seed ? *seed : session_of(L).random.next_seed(); }
  Tensor step_in(lua_State* L) const { return step ? step : step_of_draw(L); }
};

/// The value that `build` makes of a graph and the values of `inputs` in it.
template <class Build>
Tensor apply_built(lua_State* L, const std::vector<Tensor>& inputs, const Build& build) {
  Graph graph;
  std::vector<GraphValue> values;
  for (const Tensor& input : inputs) values.push_back(graph.input(input.type(), "images"));
  const GraphValue output = build(graph, values);
  if (output == values.front()) return inputs.front();
  return world_of(L).dispatcher.apply(graph, inputs, std::array{output}).front();
}

/// gb.image.adjust_hue and others on colours.
void add_image_colours(const Module& image);
/// gb.image.resize, crops, padding and flips.
void add_image_extents(const Module& image);

}  // namespace gpubench::lua
