// gb.memory.report, Model:memory and gb.find_batch_size: what training takes, before and after, and what fits.
#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <span>
#include <string>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/data/stage/batch.h"
#include "core/device/device.h"
#include "core/exec/plan/plan_memory.h"
#include "core/telemetry/proc/proc_file.h"
#include "core/train/batch_size_search.h"
#include "core/train/step_memory.h"
#include "lua/api/data/dataset.h"
#include "lua/api/openers.h"
#include "lua/api/results_values.h"
#include "lua/api/train/model.h"

namespace gpubench::lua {
namespace {

constexpr std::size_t holders_shown = 12;

std::string memory_text_of(std::size_t bytes) {
  return format_bytes(static_cast<double>(bytes));
}

std::string line(std::string_view layer, std::string_view kind, std::size_t bytes, std::size_t of) {
  const double share = of == 0 ? 0 : 100 * static_cast<double>(bytes) / static_cast<double>(of);
  return fmt::format("  {:<24} {:<12} {:>10} {:>5.1f} %\n", layer, kind, memory_text_of(bytes), share);
}

std::string memory_text_of(const DeviceMemory& memory) {
  const std::size_t total = memory.total();
  std::string text = fmt::format("{}: {} for a training step, {} of them planned for what dies within it\n",
                                 to_string(memory.device), memory_text_of(total), memory_text_of(memory.arena));
  if (memory.peak_launch < memory.timeline.size()) {
    const LaunchMemory& peak = memory.timeline[memory.peak_launch];
    text += fmt::format("  most is alive at launch {} of {}: {} of {}\n", memory.peak_launch + 1,
                        memory.timeline.size(), peak.op, peak.label);
  }
  std::size_t others = 0;
  for (std::size_t i = 0; i < memory.at_peak.size(); ++i) {
    const MemoryHolder& holder = memory.at_peak[i];
    if (i < holders_shown) {
      text += line(holder.layer, to_string(holder.kind), holder.bytes, total);
    } else {
      others += holder.bytes;
    }
  }
  if (others > 0) text += line(fmt::format("{} others", memory.at_peak.size() - holders_shown), "", others, total);
  if (memory.arena > memory.lower_bound) text += line("gaps", "", memory.arena - memory.lower_bound, total);
  if (memory.offloaded > 0) {
    text += fmt::format("  and {} of the host's memory, where activations wait for their gradients\n",
                        memory_text_of(memory.offloaded));
  }
  return text;
}

/// For each device, the kinds and the layers that hold most at the peak; lines end with a line break.
std::string memory_text(std::span<const DeviceMemory> memory) {
  std::string text;
  for (const DeviceMemory& device : memory) text += memory_text_of(device);
  return text;
}

using ModelHandle = std::shared_ptr<ScriptModel>;

Info number(std::size_t bytes) {
  return static_cast<std::int64_t>(bytes);
}

Info::List layers_of(const DeviceMemory& memory) {
  Info::List layers;
  for (const MemoryHolder& holder : memory.at_peak) {
    layers.push_back(Info::Fields{
        {"layer", holder.layer}, {"kind", std::string(to_string(holder.kind))}, {"bytes", number(holder.bytes)}});
  }
  return layers;
}

Info::List timeline_of(const DeviceMemory& memory) {
  Info::List launches;
  for (const LaunchMemory& launch : memory.timeline) {
    launches.push_back(
        Info::Fields{{"op", std::string(launch.op)}, {"label", launch.label}, {"bytes", number(launch.bytes)}});
  }
  return launches;
}

/// Sums over all devices, and each device by itself.
Info info_of(const std::vector<DeviceMemory>& memory) {
  Info::Fields fields;
  const auto add_sums = [](Info::Fields& to, std::span<const DeviceMemory> of) {
    std::size_t arena = 0, lower_bound = 0, peak_activations = 0, offloaded = 0;
    to.emplace_back("total", number(total(of)));
    for (std::size_t kind = 0; kind < memory_kinds; ++kind) {
      std::size_t bytes = 0;
      for (const DeviceMemory& device : of) bytes += device.bytes_of(static_cast<MemoryKind>(kind));
      to.emplace_back(std::string(to_string(static_cast<MemoryKind>(kind))), number(bytes));
    }
    for (const DeviceMemory& device : of) {
      arena += device.arena, lower_bound += device.lower_bound, offloaded += device.offloaded;
      peak_activations += device.peak_activations;
    }
    to.emplace_back("arena", number(arena));
    to.emplace_back("lower_bound", number(lower_bound));
    to.emplace_back("peak_activations", number(peak_activations));
    to.emplace_back("offloaded", number(offloaded));
  };
  add_sums(fields, memory);
  Info::List devices;
  for (const DeviceMemory& device : memory) {
    Info::Fields own{{"device", to_string(device.device)}};
    add_sums(own, std::span(&device, 1));
    own.emplace_back("layers", layers_of(device));
    own.emplace_back("timeline", timeline_of(device));
    own.emplace_back("peak_launch", number(device.peak_launch + 1));
    devices.emplace_back(std::move(own));
  }
  fields.emplace_back("devices", std::move(devices));
  fields.emplace_back("text", memory_text(memory));
  return fields;
}

std::vector<TensorType> read_batch_types(lua_State* L, const ScriptModel& model, int index) {
  if (Value<DatasetPtr>::matches(L, index)) return batch_types(*Value<DatasetPtr>::read(L, index));
  const auto batch_size = Value<std::int64_t>::read(L, index);
  constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();  // libraries of kernels know no more
  if (batch_size < 1 || batch_size > largest) {
    throw ArgumentError(fmt::format("a batch size from 1 to {} is expected, got {}", largest, batch_size));
  }
  return batch_types(*model.trainer(), batch_size);
}

/// All devices with memory in use or reserved.
Info::List pools(World& world) {
  Info::List devices;
  for (const DeviceId& id : world.devices.ids()) {
    const MemoryUse use = world.devices.device(id).memory().use();
    if (use.reserved == 0 && use.peak == 0) continue;
    const std::size_t free = use.reserved - use.in_use;
    const double split = free == 0 ? 0 : 1 - static_cast<double>(use.largest_free) / static_cast<double>(free);
    Info::Fields fields{{"device", to_string(id)},
                        {"in_use", number(use.in_use)},
                        {"peak", number(use.peak)},
                        {"reserved", number(use.reserved)},
                        {"largest_free", number(use.largest_free)},
                        {"fragmentation", split}};
    if (use.limit != 0) fields.emplace_back("limit", number(use.limit));
    devices.emplace_back(std::move(fields));
  }
  return devices;
}

/// gb.memory.report(model): the devices' pools and, with a model that has trained, what its step holds.
int report(lua_State* L) {
  Info::Fields fields, kept;
  if (!lua_isnoneornil(L, 1)) {
    const auto model = Value<ModelHandle>::read(L, 1);
    const std::vector<DeviceMemory> memory = training_memory(*model->trainer());
    if (memory.empty()) {
      throw Error(
          fmt::format("gb.memory.report: model '{}' has not been trained yet; model:memory(batch_size) predicts "
                      "what it will take",
                      model->model->name()));
    }
    fields.emplace_back("step", info_of(memory));
    kept.emplace_back("plans", number(model->trainer()->kept_plans()));
  }
  lua_gc(L, LUA_GCCOLLECT);  // unreferenced tensors do not count as memory in use
  World& world = world_of(L);
  fields.emplace_back("devices", pools(world));
  kept.emplace_back("kernels", number(world.dispatcher.eager().kernels()));
  fields.emplace_back("kept", std::move(kept));
  if (const auto resident = bytes_after(read_small_file("/proc/self/status"), "VmRSS"))
    fields.emplace_back("resident", static_cast<std::int64_t>(*resident));
  Value<Info>::push(L, Info(std::move(fields)));
  return 1;
}

/// A dataset of single examples, or a function that makes batches. A last batch that cannot be cut into parts is left
/// out.
BatchSource read_batches(lua_State* L, int index, std::int64_t parts, std::int64_t* largest) {
  if (Value<DatasetPtr>::matches(L, index)) {
    const auto examples = Value<DatasetPtr>::read(L, index);
    const std::optional<std::int64_t> size = examples->size();
    if (size && *size != endless) *largest = *size;
    if (*largest < parts) {
      throw Error(
          fmt::format("gb.find_batch_size: the dataset has {} examples, fewer than gradient_accumulation_steps = {}",
                      *largest, parts));
    }
    return [examples, parts](std::int64_t batch_size) { return batch(examples, batch_size, parts > 1); };
  }
  if (Value<LuaFunction>::matches(L, index)) return Value<BatchSource>::read(L, index);
  throw ArgumentError(fmt::format(
      "argument {}: a Dataset of single examples is expected, or a function that makes batches of a size, got {}",
      index, type_name_at(L, index)));
}

Info info_of(const BatchSizeSearch& search) {
  Info::List trials;
  for (const BatchSizeTrial& trial : search.trials) {
    Info::Fields fields{{"batch_size", trial.batch_size}, {"fits", trial.fits}, {"predicted", number(trial.predicted)}};
    if (trial.used != 0) fields.emplace_back("used", number(trial.used));
    trials.emplace_back(std::move(fields));
  }
  return Info::Fields{
      {"batch_size", search.batch_size}, {"limit", number(search.limit)}, {"trials", std::move(trials)}};
}

/// gb.find_batch_size(model, dataset or function, limit): the batch size, and how it was found.
int find(lua_State* L) {
  const auto model = Value<ModelHandle>::read(L, 1);
  BatchSizeOptions options;
  const BatchSource batches =
      read_batches(L, 2, model->trainer()->config().gradient_accumulation_steps, &options.largest);
  if (!lua_isnoneornil(L, 3)) {
    const auto limit = Value<std::int64_t>::read(L, 3);
    if (limit < 1) throw ArgumentError(fmt::format("argument 3: a limit in bytes is expected, got {}", limit));
    options.limit = static_cast<std::size_t>(limit);
  }
  lua_gc(L, LUA_GCCOLLECT);
  const BatchSizeSearch found = find_batch_size(*model->trainer(), batches, options);
  lua_pushinteger(L, found.batch_size);
  Value<Info>::push(L, info_of(found));
  return 2;
}

}  // namespace

/// model:memory(batch_size or batched dataset): what a training step will take, by kind and layer.
int model_memory(lua_State* L) {
  const auto self = Value<ModelHandle>::read(L, 1);
  const std::vector<TensorType> types = read_batch_types(L, *self, 2);
  Value<Info>::push(L, info_of(predict_training_memory(*self->trainer(), types)));
  return 1;
}

void open_memory(lua_State* L) {
  const Module gb = Module::root(L);
  gb.function<&find, 3>("find_batch_size");
  gb.submodule("memory").function<&report, 1>("report");
}

}  // namespace gpubench::lua
