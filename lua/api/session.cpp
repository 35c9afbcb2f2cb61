#include "lua/api/session.h"

#include <algorithm>
#include <fmt/format.h>
#include <lua.hpp>
#include <unistd.h>
#include <utility>

#include "core/backend/cpu/cpu_backend.h"
#include "core/backend/cpu/processor.h"
#include "core/base/error.h"
#include "core/base/split_mix.h"
#include "core/base/terminal.h"
#include "lua/bind/machine.h"

namespace gpubench::lua {
namespace {

const char registry_key = 0;

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

DeviceConfig config_of(const SessionOptions& options, const ProcessGroup* group) {
  DeviceConfig config;
  int& threads = config[DeviceId::Kind::cpu].own<CpuOptions>().threads;
  threads = options.threads;
  if (group == nullptr) return config;
  threads = options.threads > 0
                ? share_of(options.threads, group->local_rank(), group->local_size())
                : std::min(share_of(usable_cores(), group->local_rank(), group->sharing_processors()), team_limit());
  for (const DeviceId::Kind kind : device_kinds()) {
    if (group->local_size() == 1 || physical_devices(kind).empty()) continue;
    config[kind].devices = share_of_devices(kind, *group);
  }
  return config;
}

}  // namespace

int Session::cpu_threads() const {
  const auto cpus = config_.find(DeviceId::Kind::cpu);
  return cpus == config_.end() ? 0 : cpus->second.own<CpuOptions>().threads;
}

Session::Session(SessionOptions options, std::unique_ptr<ProcessGroup> group)
    : progress_line(activity, STDERR_FILENO),
      options_(std::move(options)),
      group_(std::move(group)),
      config_(config_of(options_, group_.get())),
      seed_(options_.seed),
      kept_{config_, seed_, floatx_, dtype_policy_, soft_placement_} {}

const WorldPtr& Session::world() {
  if (world_ == nullptr) {
    auto world = std::make_shared<World>(config_);
    if (options_.device) world->dispatcher.set_device(place_in(*world, *options_.device));
    collect_under_pressure(*world);
    world_ = std::move(world);
  }
  return world_;
}

DeviceId Session::place(const DeviceId& id) {
  return place_in(*world(), id);
}

bool Session::can_place(const DeviceId& id) {
  if (soft_placement_ && id.kind != DeviceId::Kind::emulated) return true;
  world()->devices.device(id);
  return true;
}

std::vector<DeviceId> Session::devices_of_best_kind() {
  const Devices& devices = world()->devices;
  std::vector<DeviceId> ids = devices.usable();
  std::erase_if(ids, [kind = ids.front().kind](const DeviceId& id) { return id.kind != kind; });
  for (const GpuFault& fault : devices.unusable(DeviceId::Kind::gpu)) {
    if (!announced_faults_.insert(fault.reason).second) continue;
    progress_line.hide();
    print_message(to_string(fault));
  }
  return ids;
}

DeviceId Session::place_in(const World& world, const DeviceId& id) {
  // Emulated devices come into being when they are named.
  if (!soft_placement_ || id.kind == DeviceId::Kind::emulated) return id;
  const bool is_there = world.devices.has(id);
  const auto fault = is_there ? world.devices.fault(id) : world.devices.absence(id.kind);
  if (is_there && !fault) return id;
  const DeviceId host{};
  const std::string why = to_string(fault);
  std::string mark =
      fmt::format("{} {}, {} took its place{}{}", to_string(id), is_there ? "cannot be used" : "is missing",
                  to_string(host), why.empty() ? "" : ": ", why);
  if (announced_fallbacks_.insert(id).second && (group_ == nullptr || group_->rank() == 0)) {
    progress_line.hide();
    print_message(mark);
  }
  if (std::ranges::find(fallbacks_, mark) == fallbacks_.end()) fallbacks_.push_back(std::move(mark));
  return host;
}

void Session::collect_under_pressure(World& world) const {
  if (L_ == nullptr) return;
  world.devices.set_pressure_handler([machine = std::weak_ptr(Machine::shared(L_))] {
    const auto open = machine.lock();
    // A pipeline's worker must not touch the script's state.
    if (open != nullptr && open->is_open() && open->on_own_thread()) lua_gc(open->running(), LUA_GCCOLLECT);
  });
}

DeviceConfig& Session::configure(const std::string& what) {
  if (started()) {
    throw Error(fmt::format(
        "{}: the devices are already in use; call it before the first tensor, model or device scope", what));
  }
  return config_;
}

std::uint64_t Session::next_seed() {
  return split_mix(seed_ + split_mix_step * ++next_stream_);
}

std::vector<Session::Use> Session::memory_in_use() const {
  std::vector<Use> uses;
  if (world_ == nullptr) return uses;
  for (const DeviceId& id : world_->devices.ids()) {
    const std::size_t bytes = world_->devices.device(id).memory().use().in_use;
    if (bytes != 0) uses.push_back({id, bytes});
  }
  return uses;
}

void Session::release_devices() {
  if (!memory_in_use().empty()) return;
  if (world_ != nullptr) world_->replicas = nullptr;
  // Strategies, metrics and models that the script keeps hold their world, and compute with what is made later.
  if (world_.use_count() > 1 && L_ != nullptr) lua_gc(Machine::of(L_).running(), LUA_GCCOLLECT);
  if (world_.use_count() <= 1) world_ = nullptr;
}

void Session::begin_run() {
  release_devices();
  set_seed(seed_);
}

void Session::reset() {
  if (!memory_in_use().empty()) return;
  release_devices();
  if (world_ == nullptr) config_ = kept_.devices;
  set_seed(kept_.seed);
  set_floatx(kept_.floatx);
  set_dtype_policy(kept_.dtype_policy);
  set_soft_placement(kept_.soft_placement);
}

void set_session(lua_State* L, Session& session) {
  session.L_ = L;
  lua_pushlightuserdata(L, &session);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &registry_key);
}

void end_session(lua_State* L) {
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &registry_key);
}

Session& session_of(lua_State* L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &registry_key);
  auto* session = static_cast<Session*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  if (session == nullptr) throw Error("the script has ended, and its devices with it; a finalizer comes too late");
  return *session;
}

}  // namespace gpubench::lua
