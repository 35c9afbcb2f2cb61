#include "lua/api/placement.h"

#include <algorithm>
#include <fmt/format.h>
#include <lua.hpp>

#include "core/backend/cpu/cpu_backend.h"
#include "core/backend/cpu/processor.h"
#include "core/base/error.h"
#include "core/base/terminal.h"
#include "lua/bind/machine.h"

namespace gpubench::lua {
namespace {

/// The `index`-th of `count` shares of `whole`, at least one.
int share_of(int whole, int index, int count) {
  return std::max(1, whole / count + (index < whole % count ? 1 : 0));
}

/// The physical devices in turn; where there are fewer than processes, several processes share one.
std::vector<LogicalDevice> share_of_devices(DeviceId::Kind kind, const ProcessGroup& group) {
  const std::vector<LogicalDevice> all = physical_devices(kind);
  std::vector<LogicalDevice> own;
  const auto size = static_cast<std::size_t>(group.local_size()), rank = static_cast<std::size_t>(group.local_rank());
  for (std::size_t device = rank; device < all.size(); device += size) own.push_back(all[device]);
  if (own.empty()) own.push_back(all[rank % all.size()]);
  return own;
}

DeviceConfig config_of(int asked_threads, const ProcessGroup* group) {
  DeviceConfig config;
  int& threads = config[DeviceId::Kind::cpu].own<CpuOptions>().threads;
  threads = asked_threads;
  if (group == nullptr) return config;
  threads = asked_threads > 0
                ? share_of(asked_threads, group->local_rank(), group->local_size())
                : std::min(share_of(usable_cores(), group->local_rank(), group->sharing_processors()), team_limit());
  for (const DeviceId::Kind kind : device_kinds()) {
    if (group->local_size() == 1 || physical_devices(kind).empty()) continue;
    config[kind].devices = share_of_devices(kind, *group);
  }
  return config;
}

}  // namespace

int Placement::cpu_threads() const {
  const auto cpus = config_.find(DeviceId::Kind::cpu);
  return cpus == config_.end() ? 0 : cpus->second.own<CpuOptions>().threads;
}

Placement::Placement(int threads, std::optional<DeviceId> device, const ProcessGroup* group, ProgressLine& line)
    : device_(std::move(device)),
      group_(group),
      line_(line),
      config_(config_of(threads, group)),
      kept_(config_, soft_) {}

const WorldPtr& Placement::world() {
  if (world_ == nullptr) {
    auto world = std::make_shared<World>(config_);
    if (device_) world->dispatcher.set_device(place_in(*world, *device_));
    collect_under_pressure(*world);
    world_ = std::move(world);
  }
  return world_;
}

DeviceId Placement::place(const DeviceId& id) {
  return place_in(*world(), id);
}

bool Placement::can_place(const DeviceId& id) {
  if (soft_ && id.kind != DeviceId::Kind::emulated) return true;
  world()->devices.device(id);
  return true;
}

std::vector<DeviceId> Placement::devices_of_best_kind() {
  const Devices& devices = world()->devices;
  std::vector<DeviceId> ids = devices.usable();
  std::erase_if(ids, [kind = ids.front().kind](const DeviceId& id) { return id.kind != kind; });
  for (const DeviceFault& fault : devices.unusable(DeviceId::Kind::gpu)) {
    if (!announced_faults_.insert(fault.reason).second) continue;
    say(to_string(fault));
  }
  return ids;
}

DeviceId Placement::place_in(const World& world, const DeviceId& id) {
  // Emulated devices come into being when they are named.
  if (!soft_ || id.kind == DeviceId::Kind::emulated) return id;
  const bool is_there = world.devices.has(id);
  const auto fault = is_there ? world.devices.fault(id) : world.devices.absence(id.kind);
  if (is_there && !fault) return id;
  const DeviceId host{};
  const std::string why = to_string(fault);
  std::string mark =
      fmt::format("{} {}, {} took its place{}{}", to_string(id), is_there ? "cannot be used" : "is missing",
                  to_string(host), why.empty() ? "" : ": ", why);
  if (announced_fallbacks_.insert(id).second && (group_ == nullptr || group_->rank() == 0)) say(mark);
  if (std::ranges::find(fallbacks_, mark) == fallbacks_.end()) fallbacks_.push_back(std::move(mark));
  return host;
}

void Placement::collect_under_pressure(World& world) const {
  if (L_ == nullptr) return;
  world.devices.set_pressure_handler([machine = std::weak_ptr(Machine::shared(L_))] {
    const auto open = machine.lock();
    // A pipeline's worker must not touch the script's state.
    if (open != nullptr && open->is_open() && open->on_own_thread()) lua_gc(open->running(), LUA_GCCOLLECT);
  });
}

DeviceConfig& Placement::configure(const std::string& what) {
  if (started()) {
    throw Error(fmt::format(
        "{}: the devices are already in use; call it before the first tensor, model or device scope", what));
  }
  return config_;
}

std::vector<Placement::Use> Placement::memory_in_use() const {
  std::vector<Use> uses;
  if (world_ == nullptr) return uses;
  for (const DeviceId& id : world_->devices.ids()) {
    const std::size_t bytes = world_->devices.device(id).memory().use().in_use;
    if (bytes != 0) uses.push_back({id, bytes});
  }
  return uses;
}

void Placement::release() {
  if (!memory_in_use().empty()) return;
  if (world_ != nullptr) world_->replicas = nullptr;
  // Strategies, metrics and models that the script keeps hold their world, and compute with what is made later.
  if (world_.use_count() > 1 && L_ != nullptr) lua_gc(Machine::of(L_).running(), LUA_GCCOLLECT);
  if (world_.use_count() <= 1) world_ = nullptr;
}

void Placement::reset() {
  release();
  if (world_ == nullptr) config_ = kept_.first;
  soft_ = kept_.second;
}

void Placement::say(const std::string& text) {
  line_.hide();
  print_message(text);
}

}  // namespace gpubench::lua
