// What Dataset has beyond dataset.cpp: transformations, and loops over its elements.
#pragma once
#include "lua/api/data/dataset.h"
#include "lua/bind/class.h"

namespace gpubench::lua {

void add_sequences(Class<Dataset>& dataset);
void add_stages(Class<Dataset>& dataset);
void add_state_stages(Class<Dataset>& dataset);

/// `for x, y in dataset do` and `for x, y in dataset:iter() do`. The first has no value that Lua closes, so a `break`
/// leaves its pipeline to the collector; the second is closed at once.
void add_loops(Class<Dataset>& dataset);
/// Binds the class DatasetIterator.
void open_dataset_iterator(lua_State* L);

}  // namespace gpubench::lua
