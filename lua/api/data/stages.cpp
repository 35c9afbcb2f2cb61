#include "lua/api/data/stages.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "core/base/error.h"
#include "core/data/cache/cache.h"
#include "core/data/interleave/interleave.h"
#include "core/data/stage/by_position.h"
#include "core/data/stage/combine.h"
#include "core/data/stage/filter.h"
#include "core/data/stage/padded_batch.h"
#include "core/data/stage/prefetch.h"
#include "core/data/stage/throttle.h"
#include "core/data/stage/unbatch.h"
#include "lua/api/data/element_argument.h"
#include "lua/api/data/named_size.h"
#include "lua/api/openers.h"
#include "lua/api/output_path.h"
#include "lua/api/session.h"
#include "lua/api/tensor/tensor.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

DatasetPtr filtered(lua_State* L, const DatasetPtr& source, const ElementArgument& predicate) {
  return filter(source, element_function(L, predicate, *source, "filter"));
}

/// Extents of padding: a number, or -1 where the batch decides.
struct PaddedBatchTable {
  std::optional<std::int64_t> batch_size;
  std::vector<std::vector<std::int64_t>> padded_shapes;
  std::vector<double> padding_values;
  bool drop_remainder = false;
  static constexpr auto fields = std::tuple{field("batch_size", &PaddedBatchTable::batch_size),
                                            field("padded_shapes", &PaddedBatchTable::padded_shapes),
                                            field("padding_values", &PaddedBatchTable::padding_values),
                                            field("drop_remainder", &PaddedBatchTable::drop_remainder)};
};

DatasetPtr padded(const DatasetPtr& source, const SizeOrOptions<PaddedBatchTable>& size,
                  const std::optional<PaddedBatchTable>& options) {
  const PaddedBatchTable table = with_size(size, options, &PaddedBatchTable::batch_size, "batch_size");
  for (const Shape& shape : table.padded_shapes) {
    for (const std::int64_t extent : shape) {
      if (extent < varying) {
        throw ArgumentError(
            fmt::format("option 'padded_shapes': an extent of {}; 0 or more, or -1 where the batch decides", extent));
      }
    }
  }
  return padded_batch(source, {.size = *table.batch_size,
                               .shapes = table.padded_shapes,
                               .values = table.padding_values,
                               .drop_remainder = table.drop_remainder});
}

DatasetPtr unbatched(const DatasetPtr& source) {
  return unbatch(source);
}

struct CacheTable {
  std::optional<std::int64_t> limit;
  static constexpr auto fields = std::tuple{field("limit", &CacheTable::limit)};
};

/// dataset:cache(), dataset:cache { limit = bytes } or dataset:cache(path)
DatasetPtr cached(lua_State* L, const DatasetPtr& source,
                  const std::variant<std::monostate, std::string, CacheTable>& to) {
  if (const auto* path = std::get_if<std::string>(&to)) return cache(source, output_path(L, *path, "cache"));
  const auto* table = std::get_if<CacheTable>(&to);
  if (table == nullptr || !table->limit) return cache(source);
  if (*table->limit < 1) {
    throw ArgumentError(fmt::format("option 'limit': at least 1 byte is expected, got {}", *table->limit));
  }
  return cache(source, static_cast<std::size_t>(*table->limit));
}

struct ShardTable {
  std::int64_t num_shards = 0, index = 0;
  static constexpr auto fields =
      std::tuple{required("num_shards", &ShardTable::num_shards), required("index", &ShardTable::index)};
};

/// dataset:shard(count, index) or dataset:shard { num_shards = count, index = index }
DatasetPtr sharded(const DatasetPtr& source, const std::variant<std::int64_t, ShardTable>& count,
                   std::optional<std::int64_t> index) {
  if (const auto* table = std::get_if<ShardTable>(&count)) return shard(source, table->num_shards, table->index);
  if (!index) throw ArgumentError("argument #2: the shard's index is missing, from 0");
  return shard(source, std::get<std::int64_t>(count), *index);
}

DatasetPtr concatenated(const DatasetPtr& source, const DatasetPtr& other) {
  return concatenate(source, other);
}

DatasetPtr enumerated(const DatasetPtr& source, std::optional<std::int64_t> start) {
  return enumerate(source, start.value_or(0));
}

struct ThrottleTable {
  double latency = 0;
  std::optional<double> bandwidth;
  static constexpr auto fields =
      std::tuple{field("latency", &ThrottleTable::latency), field("bandwidth", &ThrottleTable::bandwidth)};
};

DatasetPtr throttled(const DatasetPtr& source, const ThrottleTable& table) {
  return throttle(source, {.latency = Seconds(table.latency), .bytes_per_s = table.bandwidth});
}

struct InterleaveTable {
  std::optional<std::int64_t> cycle_length;
  std::int64_t block_length = 1;
  std::int64_t num_parallel_calls = 0;
  std::optional<bool> deterministic;
  static constexpr auto fields = std::tuple{field("cycle_length", &InterleaveTable::cycle_length),
                                            field("block_length", &InterleaveTable::block_length),
                                            field("num_parallel_calls", &InterleaveTable::num_parallel_calls),
                                            field("deterministic", &InterleaveTable::deterministic)};

  InterleaveOptions options(std::int64_t inputs) const {
    const std::int64_t cycle = cycle_length.value_or(inputs);
    return {.cycle_length = cycle,
            .block_length = block_length,
            .parallel = num_parallel_calls,
            .deterministic = deterministic};
  }
};

/// The script's function, called with an element's tensors.
DatasetPtr made_input(const LuaFunction& function, const Machine& machine, const Element& element) {
  if (!machine.on_own_thread()) {
    throw Error(
        "interleave: the function is the script's and cannot be called by a pipeline's thread; interleave before "
        "repeated, or give a list of datasets");
  }
  lua_State* const L = machine.running();
  const int bottom = lua_gettop(L);
  luaL_checkstack(L, static_cast<int>(element.size()) + 8, "function of interleave");
  function.reference().push(L);
  Dispatcher& dispatcher = world_of(L).dispatcher;
  for (const HostTensor& tensor : element) Value<Tensor>::push(L, dispatcher.constant(tensor));
  protected_call(L, static_cast<int>(element.size()), 1);
  if (!Value<DatasetPtr>::matches(L, -1)) {
    const std::string found = type_name_at(L, -1);
    lua_settop(L, bottom);
    throw Error(fmt::format("interleave: the function returned a {}; it returns the Dataset to read", found));
  }
  DatasetPtr made = Value<DatasetPtr>::read(L, -1);
  lua_settop(L, bottom);
  return made;
}

DatasetPtr interleaved(lua_State* L, const DatasetPtr& source, const LuaFunction& function,
                       const InterleaveTable& table) {
  const std::optional<std::int64_t> elements = source->size();
  const auto call = [function, machine = Machine::shared(L)](const Element& element) {
    return made_input(function, *machine, element);
  };
  return interleave(source, call, table.options(elements && *elements != endless ? *elements : 1));
}

/// dataset:flat_map(fn): all of one input before the next.
DatasetPtr flat_mapped(lua_State* L, const DatasetPtr& source, const LuaFunction& function) {
  InterleaveTable one_by_one;
  one_by_one.cycle_length = 1;
  return interleaved(L, source, function, one_by_one);
}

/// gb.data.Dataset.interleave(datasets, options)
DatasetPtr interleaved_list(const std::vector<DatasetPtr>& inputs, const InterleaveTable& table) {
  if (inputs.empty()) throw Error("interleave: no datasets given; at least one is needed");
  return interleave(inputs, table.options(std::ssize(inputs)));
}

}  // namespace

void add_stages(Class<Dataset>& dataset) {
  dataset.method<&filtered>("filter")
      .method<&padded>("padded_batch")
      .method<&unbatched>("unbatch")
      .method<&cached>("cache")
      .method<&sharded>("shard")
      .method<&concatenated>("concatenate")
      .method<&enumerated>("enumerate")
      .method<&throttled>("throttle")
      .method<&interleaved>("interleave")
      .method<&flat_mapped>("flat_map");
}

void open_data_stages(lua_State* L) {
  const Module gb = Module::root(L);
  const Module data = gb.submodule("data");
  const Module constructors = data.submodule("Dataset");
  constructors.function<&interleaved_list>("interleave");
}

}  // namespace gpubench::lua
