// The execution of pipelines, for scripts: options of maps, budgets, statistics.
#pragma once
#include <optional>

#include "core/data/map/map.h"
#include "lua/api/data/dataset.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

struct MapTable {
  std::optional<std::int64_t> num_parallel_calls;
  std::optional<bool> deterministic;
  std::optional<std::string> device;
  static constexpr auto fields =
      std::tuple{field("num_parallel_calls", &MapTable::num_parallel_calls),
                 field("deterministic", &MapTable::deterministic), field("device", &MapTable::device)};
  MapOptions native(lua_State* L) const;
};

struct PipelineTable {
  std::optional<std::int64_t> threads;
  std::optional<std::int64_t> ram_budget;
  std::optional<double> cpu_budget;
  std::optional<bool> deterministic;
  static constexpr auto fields = std::tuple{
      field("threads", &PipelineTable::threads), field("ram_budget", &PipelineTable::ram_budget),
      field("cpu_budget", &PipelineTable::cpu_budget), field("deterministic", &PipelineTable::deterministic)};
};

/// The session's device of that name. Throws Error if there is none.
DevicePlace place_of(lua_State* L, const std::string& name);
/// dataset:prefetch_to_device(device, buffer)
DatasetPtr prefetched_to_device(lua_State* L, const DatasetPtr& source, const std::string& device,
                                std::optional<std::int64_t> buffer);

/// Pushes the tensors of an element; tensors on a device stay there.
void push_element(lua_State* L, const Element& element);

DatasetPtr with_options(const DatasetPtr& source, const PipelineTable& options);
/// Pushes { { stage = "map", elements = 5, busy_s = 0.1, ... }, ... }, sources first.
void push_stages(lua_State* L, const std::vector<StageStatistics>& stages);
/// dataset:stats(): a list with a table for each stage.
int push_statistics(lua_State* L);

}  // namespace gpubench::lua
