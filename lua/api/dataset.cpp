// gb.data: datasets from tensors, their stages, and loops over their elements.
#include "lua/api/dataset.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <system_error>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/data/map/map.h"
#include "core/data/source/from_tensor_slices.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/by_position.h"
#include "core/data/stage/combine.h"
#include "core/data/stage/ignore_errors.h"
#include "core/data/stage/prefetch.h"
#include "core/data/stage/repeat.h"
#include "core/data/stage/shuffle.h"
#include "core/data/tune/pipeline.h"
#include "lua/api/data_pipeline.h"
#include "lua/api/data_stages.h"
#include "lua/api/element_argument.h"
#include "lua/api/named_size.h"
#include "lua/api/open_iterators.h"
#include "lua/api/openers.h"
#include "lua/api/session.h"
#include "lua/api/tensor.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

/// A loop over one epoch; leaving the loop early closes it, which stops the pipeline's threads.
struct DatasetIterator {
  std::unique_ptr<OpenIterators::Ticket> ticket;
  DatasetPtr dataset;
  std::unique_ptr<Cursor> cursor;
  Element element;
  std::uint64_t epoch = 0;
  std::int64_t position = 0;
};

}  // namespace

template <>
inline constexpr const char* class_name<DatasetIterator> = "DatasetIterator";

namespace {

HostTensor host_tensor_at(lua_State* L, int index) {
  if (!Value<Tensor>::matches(L, index)) return read_host_tensor(L, index);
  const Tensor tensor = Value<Tensor>::read(L, index);
  if (tensor.symbolic()) throw Error("from_tensor_slices: a traced tensor has no values yet");
  return world_of(L).dispatcher.eager().on_host(tensor);
}

/// Whether the value is a tuple of tensors, and not one tensor written as a table.
bool is_tuple(lua_State* L, int index) {
  if (!lua_istable(L, index)) return false;
  lua_rawgeti(L, index, 1);
  const bool starts_with_tensor = Value<Tensor>::matches(L, -1);
  lua_pop(L, 1);
  return starts_with_tensor;
}

int from_slices(lua_State* L) {
  std::vector<HostTensor> tensors;
  if (is_tuple(L, 1)) {
    const auto count = static_cast<lua_Integer>(sequence_length(L, 1));
    for (lua_Integer i = 1; i <= count; ++i) {
      lua_rawgeti(L, 1, i);
      tensors.push_back(host_tensor_at(L, -1));
      lua_pop(L, 1);
    }
  } else {
    tensors.push_back(host_tensor_at(L, 1));
  }
  Value<DatasetPtr>::push(L, from_tensor_slices(std::move(tensors)));
  return 1;
}

DatasetPtr zipped(const std::vector<DatasetPtr>& sources) {
  return zip(sources);
}

struct ShuffleTable {
  std::optional<std::int64_t> buffer_size;
  std::optional<std::uint64_t> seed;
  bool reshuffle_each_iteration = true;
  static constexpr auto fields = std::tuple{field("buffer_size", &ShuffleTable::buffer_size),
                                            field("seed", &ShuffleTable::seed),
                                            field("reshuffle_each_iteration", &ShuffleTable::reshuffle_each_iteration)};
};

DatasetPtr shuffled(lua_State* L, const DatasetPtr& source, const SizeOrOptions<ShuffleTable>& size,
                    const std::optional<ShuffleTable>& table) {
  const ShuffleTable options = with_required_size(size, table, &ShuffleTable::buffer_size, "buffer_size");
  return shuffle(source, {.buffer = *options.buffer_size,
                          .seed = options.seed ? *options.seed : session_of(L).next_seed(),
                          .reshuffle_each_iteration = options.reshuffle_each_iteration});
}

struct BatchTable {
  std::optional<std::int64_t> batch_size;
  bool drop_remainder = false;
  static constexpr auto fields = std::tuple{field("batch_size", &BatchTable::batch_size),
                                            field("drop_remainder", &BatchTable::drop_remainder)};
};

DatasetPtr batched(const DatasetPtr& source, const SizeOrOptions<BatchTable>& size,
                   const std::optional<BatchTable>& table) {
  const BatchTable options = with_required_size(size, table, &BatchTable::batch_size, "batch_size");
  return batch(source, *options.batch_size, options.drop_remainder);
}

DatasetPtr mapped(lua_State* L, const DatasetPtr& source, const ElementArgument& function, const MapTable& options) {
  return map(source, element_function(L, function, *source, "map"), options.native(L));
}

struct CountTable {
  std::optional<std::int64_t> count;
  static constexpr auto fields = std::tuple{field("count", &CountTable::count)};
};

std::int64_t count_of(const SizeOrOptions<CountTable>& count) {
  return *with_required_size(count, {}, &CountTable::count, "count").count;
}

DatasetPtr repeated(const DatasetPtr& source, const SizeOrOptions<CountTable>& count) {
  return repeat(source, with_size(count, {}, &CountTable::count, "count").count.value_or(endless));
}

DatasetPtr taken(const DatasetPtr& source, const SizeOrOptions<CountTable>& count) {
  return take(source, count_of(count));
}

DatasetPtr skipped(const DatasetPtr& source, const SizeOrOptions<CountTable>& count) {
  return skip(source, count_of(count));
}

DatasetPtr errors_ignored(const DatasetPtr& source) {
  return ignore_errors(source);
}

struct PrefetchTable {
  std::optional<std::int64_t> buffer_size;
  static constexpr auto fields = std::tuple{field("buffer_size", &PrefetchTable::buffer_size)};
};

DatasetPtr prefetched(const DatasetPtr& source, const SizeOrOptions<PrefetchTable>& buffer) {
  const PrefetchTable options = with_size(buffer, {}, &PrefetchTable::buffer_size, "buffer_size");
  return prefetch(source, options.buffer_size.value_or(autotune));
}

std::variant<std::monostate, std::int64_t, double> size_of_dataset(const Dataset& dataset) {
  const std::optional<std::int64_t> size = dataset.size();
  if (!size) return std::monostate{};
  if (*size == endless) return std::numeric_limits<double>::infinity();
  return *size;
}

std::vector<std::string> element_types(const Dataset& dataset) {
  std::vector<std::string> texts;
  for (const TensorType& type : dataset.element_types()) texts.push_back(to_text(type));
  return texts;
}

std::string to_string_of(const Dataset& dataset) {
  return fmt::format("Dataset({}: {})", describe(dataset), to_string(dataset.element_types()));
}

/// The position of a loop: the epoch, and how many of its elements have been taken.
struct Position {
  std::uint64_t epoch = 0;
  std::int64_t position = 0;
  static constexpr auto fields =
      std::tuple{required("epoch", &Position::epoch), required("position", &Position::position)};
};

struct IterTable {
  std::optional<Position> from;
  static constexpr auto fields = std::tuple{field("from", &IterTable::from)};
};

std::shared_ptr<DatasetIterator> iterator_of(const DatasetPtr& source, const IterTable& options) {
  const auto iterator = std::make_shared<DatasetIterator>();
  iterator->dataset = source;
  const Dataset& dataset = *source;
  if (!options.from) {
    iterator->epoch = dataset.next_epoch();
    iterator->cursor = open_pipeline(dataset, iterator->epoch, {.on_devices = true});
    return iterator;
  }
  require_order(dataset, "iter: from");
  if (options.from->position < 0) {
    throw Error(fmt::format("iter: a position of {}; it cannot be negative", options.from->position));
  }
  iterator->epoch = options.from->epoch;
  // The epochs that follow go on from there.
  dataset.go_on_behind(iterator->epoch);
  iterator->cursor = open_pipeline(dataset, iterator->epoch, {.on_devices = true});
  iterator->position = iterator->cursor->skip(options.from->position);
  if (iterator->position != options.from->position) {
    throw Error(fmt::format("iter: position {} is behind the end of the epoch, which has {} elements",
                            options.from->position, iterator->position));
  }
  return iterator;
}

std::shared_ptr<DatasetIterator> new_iterator(lua_State* L, const DatasetPtr& source, const IterTable& options) {
  OpenIterators& others = session_of(L).open_iterators;
  auto ticket = others.enter(L);
  std::shared_ptr<DatasetIterator> iterator;
  try {
    iterator = iterator_of(source, options);
  } catch (const std::system_error&) {  // no thread could be started
    others.collect(L);
    try {
      iterator = iterator_of(source, options);
    } catch (const std::system_error& error) {
      throw Error(fmt::format("iter: no thread can be started ({}); {} iterators are open", error.code().message(),
                              others.count() - 1));
    }
  }
  iterator->ticket = std::move(ticket);
  return iterator;
}

/// Returns the values for a generic `for`: the iterator, and the iterator again as the value that is closed at the
/// loop's end.
int iterate(lua_State* L) {
  const auto dataset = Value<DatasetPtr>::read(L, 1);
  Value<std::shared_ptr<DatasetIterator>>::push(L, new_iterator(L, dataset, Value<IterTable>::read(L, 2)));
  lua_pushnil(L);
  lua_pushnil(L);
  lua_pushvalue(L, -3);
  return 4;
}

/// Pushes the element's tensors, or nil at the end.
int push_next(lua_State* L, DatasetIterator& iterator) {
  check_interrupt();
  if (!iterator.cursor->next(iterator.element)) {
    lua_pushnil(L);
    return 1;
  }
  ++iterator.position;
  push_element(L, iterator.element);
  return static_cast<int>(iterator.element.size());
}

/// The table that maps an element's first tensor to the iterator that made it. A tensor that a loop has left takes its
/// iterator along when it is collected.
void push_loops(lua_State* L) {
  constexpr const char* key = "gpubench.dataset_loops";
  if (luaL_getsubtable(L, LUA_REGISTRYINDEX, key)) return;
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "k");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
}

/// `for x, y in dataset do`: Lua calls the dataset with nil at first, then with the first tensor of the element before,
/// which tells the loops over one dataset apart.
int call_in_loop(lua_State* L) {
  const auto dataset = Value<DatasetPtr>::read(L, 1);
  constexpr int element_before = 3;
  lua_settop(L, element_before);
  push_loops(L);
  const int loops = lua_gettop(L);
  if (lua_isnil(L, element_before)) {
    Value<std::shared_ptr<DatasetIterator>>::push(L, new_iterator(L, dataset, {}));
  } else {
    lua_pushvalue(L, element_before);
    if (lua_rawget(L, loops) == LUA_TNIL) {
      throw ArgumentError("a dataset is called by a loop only: for x, y in dataset do");
    }
    lua_pushvalue(L, element_before);
    lua_pushnil(L);
    lua_rawset(L, loops);
  }
  const int iterator = lua_gettop(L);
  const int count = push_next(L, *Value<std::shared_ptr<DatasetIterator>>::read(L, iterator));
  if (lua_isnil(L, iterator + 1)) return 1;
  lua_pushvalue(L, iterator + 1);
  lua_pushvalue(L, iterator);
  lua_rawset(L, loops);
  return count;
}

int state_of(lua_State* L) {
  const auto iterator = Value<std::shared_ptr<DatasetIterator>>::read(L, 1);
  require_order(*iterator->dataset, "state");
  lua_createtable(L, 0, 2);
  Value<std::uint64_t>::push(L, iterator->epoch);
  lua_setfield(L, -2, "epoch");
  Value<std::int64_t>::push(L, iterator->position);
  lua_setfield(L, -2, "position");
  return 1;
}

int next_element(lua_State* L) {
  return push_next(L, *Value<std::shared_ptr<DatasetIterator>>::read(L, 1));
}

}  // namespace

void open_dataset(lua_State* L) {
  Class<Dataset> dataset(L);
  dataset.property<&size_of_dataset>("size")
      .property<&element_types>("element_types")
      .method<&shuffled>("shuffle")
      .method<&mapped>("map")
      .method<&batched>("batch")
      .method<&repeated>("repeated")
      .method<&taken>("take")
      .method<&skipped>("skip")
      .method<&prefetched>("prefetch")
      .method<&prefetched_to_device>("prefetch_to_device")
      .method<&errors_ignored>("ignore_errors")
      .method<&iterate>("iter")
      .method<&with_options>("options")
      .method<&push_statistics>("stats")
      .meta<&call_in_loop>("__call")
      .meta<&to_string_of>("__tostring");
  add_stages(dataset);
  Class<DatasetIterator>(L).method<&state_of>("state").meta<&next_element>("__call");
  const Module gb = Module::root(L);
  gb.value("AUTOTUNE", autotune);
  const Module data = gb.submodule("data");
  data.value("AUTOTUNE", autotune);
  const Module constructors = data.submodule("Dataset");
  constructors.function<&from_slices>("from_tensor_slices").function<&zipped>("zip");
}

}  // namespace gpubench::lua
