#include "lua/api/data/element_argument.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "core/base/error.h"
#include "core/data/function/chained_function.h"
#include "core/data/function/graph_function.h"
#include "lua/api/data/lua_function.h"
#include "lua/api/session.h"
#include "lua/api/tensor/shape.h"
#include "lua/api/tensor/trace.h"

namespace gpubench::lua {
namespace {

/// `guess` replaces varying extents.
TracedElement trace_element(lua_State* L, const LuaFunction& function, const Dataset& source, std::int64_t guess,
                            const std::string& what) {
  // Maps run on the host, wherever the script places its models.
  const WorldPtr world = session_of(L).placement.world();
  const DeviceScope host(world->dispatcher, DeviceId{});
  std::vector<TracedInput> inputs;
  for (TensorType type : source.element_types()) {
    std::replace(type.shape.begin(), type.shape.end(), varying, guess);
    inputs.push_back({std::move(type), DeviceId{}});
  }
  const bool varies = !is_fixed(source.element_types());
  std::optional<ReadExtents> reads;
  TracedFunction traced;
  try {
    if (varies) reads.emplace(L);
    traced = trace_function(L, function, inputs, what, nullptr);
  } catch (const std::exception&) {
    if (!varies) throw;
    rethrow_with(L, fmt::format(". Elements are {}; {} traces the function with {} for every extent that varies",
                                to_string(source.element_types()), what, guess));
  }
  if (traced.outputs.empty()) {
    throw Error(fmt::format("{}: the function returned nothing; it returns the new element's tensors", what));
  }
  return {std::move(traced.trace->graph), std::move(traced.outputs),
          reads ? std::move(reads->values) : std::vector<std::int64_t>{}};
}

}  // namespace

std::shared_ptr<const ElementFunction> element_function(lua_State* L, const ElementArgument& given,
                                                        const Dataset& source, const std::string& what) {
  if (const auto* native = std::get_if<std::shared_ptr<const ElementFunction>>(&given)) {
    return bound_to_source(L, *native, source);
  }
  const auto& function = std::get<LuaFunction>(given);
  Session& session = session_of(L);
  const std::uint64_t seeds = session.random.seeds_given();
  TracedElement trace = trace_element(L, function, source, extent_guesses[0], what);
  if (is_fixed(source.element_types())) return graph_function(std::move(trace));
  session.random.give_seeds_again(seeds);
  return graph_function(std::move(trace), trace_element(L, function, source, extent_guesses[1], what));
}

}  // namespace gpubench::lua
