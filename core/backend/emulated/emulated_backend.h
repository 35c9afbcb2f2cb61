// Accelerators that are not there: each has the times of a profile, a memory limit and no arithmetic. They are made
// when a script names them, emulated:h200:0 to emulated:h200:7 for every profile.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/backend/backend.h"
#include "core/backend/emulated/address_map.h"
#include "core/backend/emulated/profile.h"
#include "core/backend/emulated/span_log.h"

namespace gpubench {

struct EmulatedOptions {
  /// The accelerator of emulated:custom:0 to emulated:custom:7.
  std::optional<Profile> custom = std::nullopt;
  /// Memory of single devices; others have no limit but their profile's memory.
  std::map<DeviceId, PoolOptions> memory = {};
};

class EmulatedBackend final : public Backend {
 public:
  /// Devices of one profile.
  static constexpr int most_devices = 8;
  static constexpr std::string_view custom_name = "custom";

  explicit EmulatedBackend(const BackendConfig& config);

  /// None is there before it is named.
  static std::vector<LogicalDevice> physical_devices() { return {}; }

  std::string_view name() const override { return "emulated"; }
  std::span<const std::unique_ptr<Device>> devices() const override { return {}; }
  std::string library() const override { return "none: times from a profile, nothing is computed"; }
  bool fuses(const Op& op, const Signature& signature, Device& device) const override;
  /// Any op: what a kernel computes does not matter here.
  std::unique_ptr<Kernel> plan(const Op& op, const Signature& signature, Device& device) const override;
  /// Throws Error for a profile or an index that there is not, listing the possible ones.
  Device* named(const DeviceId& id) override;
  std::unique_ptr<Tracer> new_tracer() const override;

 private:
  const Profile& profile_of(const DeviceId& id) const;

  EmulatedOptions options_;
  std::shared_ptr<AddressMap> map_ = std::make_shared<AddressMap>();
  std::shared_ptr<SpanLog> log_ = std::make_shared<SpanLog>();
  std::mutex mutex_;
  std::map<DeviceId, std::unique_ptr<Device>> devices_;
};

}  // namespace gpubench
