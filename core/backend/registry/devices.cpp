#include "core/backend/registry/devices.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/backend/cpu/cpu_backend.h"
#include "core/backend/cuda/cuda_backend.h"
#include "core/backend/emulated/emulated_backend.h"
#include "core/backend/registry/float32.h"
#include "core/base/error.h"
#include "core/device/device.h"
#include "core/trace/timeline.h"

namespace gpubench {
namespace {

struct BackendRow {
  DeviceId::Kind kind;
  std::vector<LogicalDevice> (*physical_devices)();
  std::unique_ptr<Backend> (*make)(const BackendConfig& config);
};

template <class B>
constexpr BackendRow row(DeviceId::Kind kind) {
  return {kind, &B::physical_devices,
          [](const BackendConfig& config) -> std::unique_ptr<Backend> { return std::make_unique<B>(config); }};
}

/// In the order in which scripts list the devices; the first device of the first row that has one is the default.
constexpr std::array backend_rows = {row<CudaBackend>(DeviceId::Kind::gpu), row<CpuBackend>(DeviceId::Kind::cpu),
                                     row<EmulatedBackend>(DeviceId::Kind::emulated)};

/// Records with several tracers.
class JointTracer final : public Tracer {
 public:
  explicit JointTracer(std::vector<std::unique_ptr<Tracer>> tracers) : tracers_(std::move(tracers)) {}
  void start() override {
    for (const auto& tracer : tracers_) tracer->start();
  }
  std::size_t stop(Timeline& timeline) override {
    std::size_t lost = 0;
    for (const auto& tracer : tracers_) lost += tracer->stop(timeline);
    return lost;
  }

 private:
  std::vector<std::unique_ptr<Tracer>> tracers_;
};

}  // namespace

bool rounds_float32(const Backend& backend) {
  const auto* const cuda = dynamic_cast<const CudaBackend*>(&backend);
  return cuda != nullptr && cuda->rounds_float32();
}

std::vector<DeviceId::Kind> device_kinds() {
  std::vector<DeviceId::Kind> kinds;
  for (const BackendRow& row : backend_rows) kinds.push_back(row.kind);
  return kinds;
}

std::vector<LogicalDevice> physical_devices(DeviceId::Kind kind) {
  const auto found = std::ranges::find(backend_rows, kind, &BackendRow::kind);
  return found == backend_rows.end() ? std::vector<LogicalDevice>{} : found->physical_devices();
}

Devices::Devices(const DeviceConfig& config) {
  for (const BackendRow& row : backend_rows) {
    const auto found = config.find(row.kind);
    const BackendConfig own = found == config.end() ? BackendConfig{} : found->second;
    auto backend = row.make(own);
    for (std::size_t i = 0; i < backend->devices().size(); ++i) {
      const bool named = own.devices && (*own.devices)[i].named;
      places_.push_back({backend.get(), backend->devices()[i].get(), named});
    }
    backends_[row.kind] = std::move(backend);
  }
}

std::vector<DeviceId> Devices::ids() const {
  std::vector<DeviceId> ids;
  const std::lock_guard lock(mutex_);
  for (const Place& place : places_) {
    if (!faults_.contains(place.device)) ids.push_back(place.device->id());
  }
  for (const Device* device : named_) ids.push_back(device->id());
  return ids;
}

bool Devices::has(const DeviceId& id) const {
  return std::ranges::any_of(places_, [&](const Place& place) { return place.device->id() == id; });
}

std::optional<DeviceFault> Devices::fault(const DeviceId& id) const {
  Device& tried = device(id);
  std::optional<DeviceFault> found;
  try {
    if (!tried.in_use()) tried.bind_to_thread();
  } catch (const UnusableDevice& error) {
    found = error.fault();
  }
  const std::lock_guard lock(mutex_);
  faults_.erase(&tried);
  if (found) faults_.emplace(&tried, *found);
  return found;
}

bool Devices::can_use(const Place& place) const {
  auto why = fault(place.device->id());
  if (why && place.named) throw UnusableDevice(*std::move(why));
  return !why;
}

std::vector<DeviceId> Devices::usable() const {
  for (const Place& place : places_) static_cast<void>(can_use(place));
  return ids();
}

const DeviceId& Devices::default_device() const {
  // The last one is a CPU, which can always be used.
  return std::ranges::find_if(places_, [this](const Place& place) { return can_use(place); })->device->id();
}

Device* Devices::make_named(const DeviceId& id) const {
  const auto backend = backends_.find(id.kind);
  if (backend == backends_.end()) return nullptr;
  Device* const device = backend->second->named(id);
  if (device == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(named_, device) != named_.end()) return device;
  if (relieve_) device->memory().set_pressure_handler(relieve_);
  named_.push_back(device);
  return device;
}

Devices::Place Devices::find(const DeviceId& id) const {
  const auto found = std::ranges::find_if(places_, [&](const Place& place) { return place.device->id() == id; });
  if (found != places_.end()) return *found;
  if (Device* const device = make_named(id)) return {backends_.at(id.kind).get(), device};
  std::vector<std::string> known;
  for (const DeviceId& there : ids()) known.push_back(to_string(there));
  const std::string why = to_string(absence(id.kind));
  throw Error(fmt::format("there is no device {}; there is {}{}{}", to_string(id), fmt::join(known, ", "),
                          why.empty() ? "" : ": ", why));
}

Device& Devices::device(const DeviceId& id) const {
  return *find(id).device;
}

const Backend& Devices::backend(const DeviceId& id) const {
  return *find(id).backend;
}

MemoryPool& Devices::host_side(const DeviceId& id) const {
  const DeviceId host{};
  if (MemoryPool* const pinned = device(id).host_memory()) return *pinned;
  if (id != host) return device(host).memory();
  throw Error(fmt::format("{} is the host itself; it has no other memory to put tensors in", to_string(id)));
}

void Devices::set_pressure_handler(std::function<void()> relieve) {
  for (const Place& place : places_) place.device->memory().set_pressure_handler(relieve);
  const std::lock_guard lock(mutex_);
  for (Device* const device : named_) device->memory().set_pressure_handler(relieve);
  relieve_ = std::move(relieve);
}

std::unique_ptr<Tracer> Devices::new_tracer() const {
  std::vector<std::unique_ptr<Tracer>> tracers;
  const std::vector<DeviceId> all = ids();
  for (const auto& [kind, backend] : backends_) {
    const auto holds_memory = [this, kind = kind](const DeviceId& id) {
      return id.kind == kind && device(id).memory().use().in_use != 0;
    };
    if (!std::ranges::any_of(all, holds_memory)) continue;
    if (auto tracer = backend->new_tracer()) tracers.push_back(std::move(tracer));
  }
  if (tracers.size() == 1) return std::move(tracers.front());
  return std::make_unique<JointTracer>(std::move(tracers));
}

std::optional<DeviceFault> Devices::absence(DeviceId::Kind kind) const {
  const auto found = backends_.find(kind);
  if (found == backends_.end()) return std::nullopt;
  if (auto reason = found->second->absence()) return reason;
  const std::vector<DeviceFault> faults = unusable(kind);
  const auto there =
      std::ranges::count_if(places_, [&](const Place& place) { return place.device->id().kind == kind; });
  return faults.empty() || std::ssize(faults) < there ? std::nullopt : std::optional(fault_of_all(faults));
}

std::vector<DeviceFault> Devices::unusable(DeviceId::Kind kind) const {
  std::vector<DeviceFault> all;
  const std::lock_guard lock(mutex_);
  for (const Place& place : places_) {
    const auto found = faults_.find(place.device);
    if (found != faults_.end() && place.device->id().kind == kind) all.push_back(found->second);
  }
  return all;
}

}  // namespace gpubench
