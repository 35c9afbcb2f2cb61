#include "core/exec/replicas.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "core/base/error.h"
#include "core/device/device.h"

namespace gpubench {
namespace {

std::vector<Device*> devices_of(Runtime& runtime, const std::vector<DeviceId>& ids) {
  std::vector<Device*> devices;
  for (const DeviceId& id : ids) devices.push_back(&runtime.devices().device(id));
  return devices;
}

std::string reason_of(const std::exception_ptr& why) {
  try {
    std::rethrow_exception(why);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "unknown";
  }
}

}  // namespace

Replicas::Replicas(Runtime& first, ReplicaOptions options, ProcessGroup* group)
    : first_(first),
      options_(std::move(options)),
      group_(group),
      threads_((check_options(), static_cast<int>(options_.devices.size()))) {
  for (std::size_t i = 1; i < options_.devices.size(); ++i)
    others_.push_back(std::make_unique<Runtime>(first.devices()));
  for (const DeviceId& id : options_.devices) nodes_.push_back(first.devices().device(id).memory_node());
  threads_.run(
      [this](int replica) {
        const MemoryNode* const node = nodes_[static_cast<std::size_t>(replica)];
        if (replica > 0 && node != nullptr) bind_thread(node->processors);
      },
      [](int, const std::exception_ptr&) {});
  communicators_ = make_communicators(devices_of(first, options_.devices), options_.cross_device, group);
}

void Replicas::check_options() const {
  const std::vector<DeviceId>& devices = options_.devices;
  if (devices.empty()) throw Error("a strategy needs at least one device");
  for (std::size_t i = 0; i < devices.size(); ++i) {
    static_cast<void>(first_.devices().device(devices[i]));
    if (std::find(devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(i), devices[i]) ==
        devices.begin() + static_cast<std::ptrdiff_t>(i))
      continue;
    throw Error(
        fmt::format("a strategy has one replica on a device, and {} is given twice; "
                    "gb.config.set_logical_devices splits a device",
                    to_string(devices[i])));
  }
  const auto check_count = [&](std::size_t given, std::string_view what) {
    if (given == 0 || given == devices.size()) return;
    throw Error(fmt::format("{}: one for each of the {} devices is needed, got {}", what, devices.size(), given));
  };
  check_count(options_.shares.size(), "shares");
  check_count(options_.delays.size(), "delays");
  for (const double share : options_.shares) {
    if (std::isfinite(share) && share > 0) continue;
    throw Error(fmt::format("shares: numbers above 0 are needed, got {}", share));
  }
  if (!std::isfinite(std::accumulate(options_.shares.begin(), options_.shares.end(), 0.0)))
    throw Error("shares: their sum is too large for a number");
  for (const Seconds delay : options_.delays) {
    if (delay.count() >= 0 && delay.count() < 60) continue;
    throw Error(fmt::format("delays: seconds an example from 0 to 60 are needed, got {}", delay.count()));
  }
}

void Replicas::abort(int replica, const std::exception_ptr& why) noexcept {
  communicators_[static_cast<std::size_t>(replica)]->abort(
      fmt::format("the replica on {} failed: {}; its strategy can take no more steps: make a new one",
                  to_string(device(replica)), reason_of(why)));
}

void Replicas::throw_lost(int replica, const DeviceLost& lost) const {
  const Communicator& communicator = *communicators_[static_cast<std::size_t>(replica)];
  throw DeviceLost(to_string(device(replica)),
                   fmt::format("a step of rank {} of {}", communicator.rank(), communicator.size()), lost.what());
}

MirroredVariablePtr Replicas::mirrored(const VariablePtr& variable) {
  if (const auto known = mirrored_.find(variable.get()); known != mirrored_.end()) {
    if (MirroredVariablePtr mirrors = known->second.lock()) return mirrors;
  }
  std::erase_if(mirrored_, [](const auto& entry) { return entry.second.expired(); });
  auto made = std::make_shared<MirroredVariable>();
  made->mirrors.push_back(variable);
  made->writes = &first_.variables().writes(*variable);
  made->seen = made->writes->load();
  const HostTensor value = size() > 1 ? first_.variables().read(*variable) : HostTensor();
  for (int replica = 1; replica < size(); ++replica) {
    made->mirrors.push_back(runtime(replica).variables().create(variable->name, value, device(replica),
                                                                variable->trainable, variable->owner));
  }
  mirrored_[variable.get()] = made;
  return made;
}

void Replicas::refresh(MirroredVariable& variable) {
  const std::uint64_t writes = variable.writes->load(std::memory_order_relaxed);
  if (writes == variable.seen) return;
  const HostTensor value = first_.variables().read(*variable.mirrors[0]);
  for (int replica = 1; replica < size(); ++replica)
    runtime(replica).variables().write(*variable.mirrors[static_cast<std::size_t>(replica)], value);
  variable.seen = writes;
}

BatchShare Replicas::share(std::int64_t rows) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(group_->size()));
  group_->all_gather(std::span(&rows, 1), all);
  const auto mine = all.begin() + group_->rank();
  return {.first = std::accumulate(all.begin(), mine, std::int64_t{0}),
          .rows = rows,
          .total = std::accumulate(all.begin(), all.end(), std::int64_t{0})};
}

std::vector<BatchShare> Replicas::split(const BatchShare& share) const {
  std::vector<double> parts = options_.shares;
  if (parts.empty()) parts.assign(options_.devices.size(), 1);
  const double whole = std::accumulate(parts.begin(), parts.end(), 0.0);
  std::vector<BatchShare> shares;
  double part = 0;
  std::int64_t first = 0;
  for (const double own : parts) {
    part += own;
    const std::int64_t last = std::llround(static_cast<double>(share.rows) * part / whole);
    shares.push_back({.first = share.first + first, .rows = last - first, .total = share.total});
    first = last;
  }
  return shares;
}

}  // namespace gpubench
