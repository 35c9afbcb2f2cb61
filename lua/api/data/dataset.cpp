// gb.data: datasets from tensors, and their stages.
#include "lua/api/data/dataset.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <optional>

#include "core/base/error.h"
#include "core/data/map/map.h"
#include "core/data/source/from_tensor_slices.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/by_position.h"
#include "core/data/stage/combine.h"
#include "core/data/stage/ignore_errors.h"
#include "core/data/stage/prefetch.h"
#include "core/data/stage/repeat.h"
#include "core/data/stage/shuffle.h"
#include "lua/api/data/element_argument.h"
#include "lua/api/data/named_size.h"
#include "lua/api/data/pipeline.h"
#include "lua/api/data/stages.h"
#include "lua/api/openers.h"
#include "lua/api/session.h"
#include "lua/api/tensor/plain_values.h"
#include "lua/api/tensor/tensor.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

HostTensor host_tensor_at(lua_State* L, int index, std::string_view what) {
  if (!Value<Tensor>::matches(L, index)) return read_host_tensor(L, index);
  const Tensor tensor = Value<Tensor>::read(L, index);
  if (tensor.symbolic()) throw Error(fmt::format("{}: a traced tensor has no values yet", what));
  return world_of(L).dispatcher.eager().on_host(tensor);
}

/// The argument: one tensor or a tuple.
std::vector<HostTensor> given_tensors(lua_State* L, std::string_view what) {
  std::vector<HostTensor> tensors;
  if (is_list_of_tensors(L, 1)) {
    const auto count = static_cast<lua_Integer>(sequence_length(L, 1));
    for (lua_Integer i = 1; i <= count; ++i) {
      lua_rawgeti(L, 1, i);
      tensors.push_back(host_tensor_at(L, -1, what));
      lua_pop(L, 1);
    }
  } else {
    tensors.push_back(host_tensor_at(L, 1, what));
  }
  return tensors;
}

int from_slices(lua_State* L) {
  Value<DatasetPtr>::push(L, from_tensor_slices(given_tensors(L, "from_tensor_slices")));
  return 1;
}

int from_whole(lua_State* L) {
  Value<DatasetPtr>::push(L, from_tensors(given_tensors(L, "from_tensors")));
  return 1;
}

DatasetPtr zipped(const std::vector<DatasetPtr>& sources) {
  return zip(sources);
}

struct ShuffleTable {
  std::optional<std::int64_t> buffer_size;
  std::optional<std::uint64_t> seed;
  bool reshuffle_each_iteration = true;
  static constexpr auto fields =
      std::tuple{field("buffer_size", &ShuffleTable::buffer_size), field("seed", &ShuffleTable::seed),
                 field("reshuffle_each_iteration", &ShuffleTable::reshuffle_each_iteration)};
};

DatasetPtr shuffled(lua_State* L, const DatasetPtr& source, const SizeOrOptions<ShuffleTable>& size,
                    const std::optional<ShuffleTable>& table) {
  const ShuffleTable options = with_size(size, table, &ShuffleTable::buffer_size, "buffer_size");
  return shuffle(source, {.buffer = *options.buffer_size,
                          .seed = options.seed ? *options.seed : session_of(L).random.next_seed(),
                          .reshuffle_each_iteration = options.reshuffle_each_iteration});
}

struct BatchTable {
  std::optional<std::int64_t> batch_size;
  bool drop_remainder = false;
  static constexpr auto fields =
      std::tuple{field("batch_size", &BatchTable::batch_size), field("drop_remainder", &BatchTable::drop_remainder)};
};

DatasetPtr batched(const DatasetPtr& source, const SizeOrOptions<BatchTable>& size,
                   const std::optional<BatchTable>& table) {
  const BatchTable options = with_size(size, table, &BatchTable::batch_size, "batch_size");
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
  return *with_size(count, {}, &CountTable::count, "count").count;
}

DatasetPtr repeated(const DatasetPtr& source, const std::optional<SizeOrOptions<CountTable>>& count) {
  return repeat(source, size_in(count, &CountTable::count).value_or(endless));
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

DatasetPtr prefetched(const DatasetPtr& source, const std::optional<SizeOrOptions<PrefetchTable>>& buffer) {
  return prefetch(source, size_in(buffer, &PrefetchTable::buffer_size).value_or(autotune));
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
      .method<&with_options>("options")
      .method<&push_statistics, 0>("stats")
      .meta<&to_string_of>("__tostring");
  add_loops(dataset);
  add_sequences(dataset);
  add_stages(dataset);
  add_state_stages(dataset);
  open_dataset_iterator(L);
  const Module gb = Module::root(L);
  gb.value("AUTOTUNE", autotune);
  const Module data = gb.submodule("data");
  data.value("AUTOTUNE", autotune);
  const Module constructors = data.submodule("Dataset");
  constructors.function<&from_slices, 1>("from_tensor_slices")
      .function<&from_whole, 1>("from_tensors")
      .function<&zipped>("zip");
}

}  // namespace gpubench::lua
