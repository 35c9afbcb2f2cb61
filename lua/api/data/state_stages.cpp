// Stages that know earlier elements: states, groups, choices; and dataset:apply.
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/data/source/random.h"
#include "core/data/source/range.h"
#include "core/data/stage/choose.h"
#include "core/data/stage/filter.h"
#include "core/data/stage/group_by_window.h"
#include "core/data/stage/scan.h"
#include "core/data/stage/unique.h"
#include "lua/api/data/element_argument.h"
#include "lua/api/data/pipeline.h"
#include "lua/api/data/stages.h"
#include "lua/api/openers.h"
#include "lua/api/session.h"
#include "lua/api/tensor/plain_values.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/tensor/trace.h"

namespace gpubench::lua {
namespace {

HostTensor state_tensor(lua_State* L, int index, const std::string& what) {
  if (Value<Tensor>::matches(L, index)) return download(L, Value<Tensor>::read(L, index));
  return read_plain(L, index, plain_type(L, index, what), what);
}

/// One tensor, or a list of them.
Element initial_state(lua_State* L, int index, const std::string& what) {
  if (lua_isnoneornil(L, index)) {
    throw ArgumentError("argument #1: the initial state is missing: a number, a Tensor, or a list of Tensors");
  }
  Element state;
  if (!is_list_of_tensors(L, index)) {
    state.push_back(state_tensor(L, index, what + ": the initial state"));
    return state;
  }
  const auto count = static_cast<lua_Integer>(lua_rawlen(L, index));
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, index, i);
    state.push_back(state_tensor(L, lua_gettop(L), fmt::format("{}: tensor {} of the initial state", what, i)));
    lua_pop(L, 1);
  }
  return state;
}

/// The arguments of scan and reduce.
struct Fold {
  explicit Fold(lua_State* L, const std::string& what)
      : source(Value<DatasetPtr>::read(L, 1)),
        initial(initial_state(L, 2, what)),
        function(element_function(L, Value<ElementArgument>::read(L, 3), *source, what, initial)) {}

  DatasetPtr source;
  Element initial;
  std::shared_ptr<const ElementFunction> function;
};

/// dataset:scan(initial, fn)
int scanned(lua_State* L) {
  Fold fold(L, "scan");
  Value<DatasetPtr>::push(L, scan(std::move(fold.source), std::move(fold.initial), std::move(fold.function)));
  return 1;
}

/// dataset:reduce(initial, fn)
int reduced(lua_State* L) {
  Fold fold(L, "reduce");
  const Element result = reduce(*fold.source, std::move(fold.initial), std::move(fold.function));
  push_element(L, result);
  return static_cast<int>(result.size());
}

DatasetPtr taken_while(lua_State* L, const DatasetPtr& source, const ElementArgument& predicate) {
  return take_while(source, element_function(L, predicate, *source, "take_while"));
}

DatasetPtr made_unique(const DatasetPtr& source) {
  return unique(source);
}

DatasetPtr applied(const DatasetPtr& source, const LuaFunction& function) {
  return function.call<DatasetPtr>(source);
}

struct GroupTable {
  ElementArgument key_func;
  LuaFunction reduce_func;
  std::optional<std::int64_t> window_size;
  std::optional<ElementArgument> window_size_func;
  static constexpr auto fields = std::tuple{
      required("key_func", &GroupTable::key_func), required("reduce_func", &GroupTable::reduce_func),
      field("window_size", &GroupTable::window_size), field("window_size_func", &GroupTable::window_size_func)};
};

/// What the script's function makes of a window. Its key is a symbol, since the function is called once for all keys.
DatasetPtr made_of_window(lua_State* L, const LuaFunction& reduce_func, const DatasetPtr& window) {
  const auto trace = std::make_shared<Trace>();
  const Tensor key(trace, trace->graph.input({{}, Dtype::i64}, "key"));
  try {
    return reduce_func.call<DatasetPtr>(key, window);
  } catch (const std::exception& error) {
    if (std::string_view(error.what()).find("traced") == std::string_view::npos) throw;
    rethrow_with(L,
                 ". group_by_window calls reduce_func once, for the windows of all keys, so that the key has no "
                 "value; map it into the elements before, or use window_size_func");
  }
}

DatasetPtr grouped(lua_State* L, const DatasetPtr& source, const GroupTable& table) {
  if (table.window_size.has_value() == table.window_size_func.has_value()) {
    throw ArgumentError("one of the options 'window_size' and 'window_size_func' is needed");
  }
  WindowGroups groups{.key = element_function(L, table.key_func, *source, "group_by_window: key_func"),
                      .size = table.window_size.value_or(0)};
  if (table.window_size_func) {
    const DatasetPtr keys = range(0, 1);
    groups.size_of = element_function(L, *table.window_size_func, *keys, "group_by_window: window_size_func");
  }
  return group_by_window(source, groups,
                         [&](const DatasetPtr& window) { return made_of_window(L, table.reduce_func, window); });
}

struct ChooseTable {
  bool stop_on_empty_dataset = true;
  static constexpr auto fields = std::tuple{field("stop_on_empty_dataset", &ChooseTable::stop_on_empty_dataset)};
};

OnEmpty on_empty(bool stop) {
  return stop ? OnEmpty::ends_epoch : OnEmpty::passes_over;
}

/// gb.data.Dataset.choose_from_datasets(datasets, choice, options)
DatasetPtr chosen(const std::vector<DatasetPtr>& datasets, const DatasetPtr& choice, const ChooseTable& table) {
  return choose_from_datasets(datasets, choice, on_empty(table.stop_on_empty_dataset));
}

struct RandomTable {
  std::optional<std::uint64_t> seed;
  bool rerandomize_each_iteration = false;
  static constexpr auto fields = std::tuple{
      field("seed", &RandomTable::seed), field("rerandomize_each_iteration", &RandomTable::rerandomize_each_iteration)};
};

RandomOptions random_options(lua_State* L, std::optional<std::uint64_t> seed, bool rerandomize) {
  return {.seed = seed ? *seed : session_of(L).random.next_seed(), .rerandomize_each_iteration = rerandomize};
}

struct SampleTable {
  std::vector<double> weights;
  std::optional<std::uint64_t> seed;
  bool stop_on_empty_dataset = false;
  bool rerandomize_each_iteration = false;
  static constexpr auto fields =
      std::tuple{field("weights", &SampleTable::weights), field("seed", &SampleTable::seed),
                 field("stop_on_empty_dataset", &SampleTable::stop_on_empty_dataset),
                 field("rerandomize_each_iteration", &SampleTable::rerandomize_each_iteration)};
};

/// gb.data.Dataset.sample_from_datasets(datasets, options)
DatasetPtr sampled(lua_State* L, const std::vector<DatasetPtr>& datasets, const SampleTable& table) {
  return sample_from_datasets(datasets, table.weights, random_options(L, table.seed, table.rerandomize_each_iteration),
                              on_empty(table.stop_on_empty_dataset));
}

/// gb.data.Dataset.random(options)
DatasetPtr randomized(lua_State* L, const RandomTable& table) {
  return random_numbers(random_options(L, table.seed, table.rerandomize_each_iteration));
}

}  // namespace

void add_state_stages(Class<Dataset>& dataset) {
  dataset.method<&applied>("apply")
      .method<&grouped>("group_by_window")
      .method<&reduced, 2>("reduce")
      .method<&scanned, 2>("scan")
      .method<&taken_while>("take_while")
      .method<&made_unique>("unique");
}

void open_data_choices(lua_State* L) {
  const Module gb = Module::root(L);
  const Module data = gb.submodule("data");
  const Module constructors = data.submodule("Dataset");
  constructors.function<&chosen>("choose_from_datasets")
      .function<&sampled>("sample_from_datasets")
      .function<&randomized>("random");
}

}  // namespace gpubench::lua
