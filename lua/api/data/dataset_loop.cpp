#include <fmt/format.h>
#include <memory>
#include <optional>
#include <system_error>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/value_scope.h"
#include "core/data/tune/pipeline.h"
#include "lua/api/data/pipeline.h"
#include "lua/api/data/stages.h"
#include "lua/api/open_iterators.h"
#include "lua/api/session.h"
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
  bool is_advancing = false;
};

}  // namespace

template <>
inline constexpr const char* class_name<DatasetIterator> = "DatasetIterator";

namespace {

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
  if (iterator.is_advancing) {
    throw Error("iter: the loop's next element is being made; the function that makes it cannot take another one");
  }
  const ValueScope advancing(iterator.is_advancing, true);
  if (!iterator.cursor->next(iterator.element)) {
    lua_pushnil(L);
    return 1;
  }
  ++iterator.position;
  push_element(L, iterator.element);
  return static_cast<int>(iterator.element.size());
}

/// Pushes the table from the first tensor of an element to its loop's iterator. Its keys are weak: after a `break` the
/// collector frees the tensor and with it the iterator.
void push_loops(lua_State* L) {
  push_weak_table(L, "gpubench.dataset_loops", "k");
}

/// `for x, y in dataset do`: a loop calls the dataset with two arguments, nil and the first tensor of the previous
/// element (nil at the start). That tensor identifies the loop, so several loops over one dataset may be open.
int call_in_loop(lua_State* L) {
  const auto dataset = Value<DatasetPtr>::read(L, 1);
  constexpr int previous = 3;
  const bool starts = lua_gettop(L) == previous && lua_isnil(L, 2) && lua_isnil(L, previous);
  push_loops(L);
  const int loops = lua_gettop(L);
  if (starts) {
    Value<std::shared_ptr<DatasetIterator>>::push(L, new_iterator(L, dataset, {}));
  } else {
    const bool goes_on = loops == previous + 1 && !lua_isnil(L, previous);
    if (goes_on) lua_pushvalue(L, previous);
    if (!goes_on || lua_rawget(L, loops) == LUA_TNIL) {
      throw ArgumentError(
          "only a loop calls a dataset: for x, y in dataset do; for single elements: "
          "local next_element = dataset:iter()");
    }
    lua_pushvalue(L, previous);
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

void add_loops(Class<Dataset>& dataset) {
  dataset.method<&iterate, 1>("iter").call<&call_in_loop, 2>();
}

void open_dataset_iterator(lua_State* L) {
  Class<DatasetIterator>(L).method<&state_of, 0>("state").call<&next_element, 2>();
}

}  // namespace gpubench::lua
