#include "core/backend/emulated/emulated_backend.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/backend/emulated/emulated_device.h"
#include "core/backend/emulated/kernel_time.h"
#include "core/backend/kernel_table.h"
#include "core/base/error.h"
#include "core/ops/measured_cross_entropy.h"

namespace gpubench {
namespace {

/// Behind the numbers that CUDA gives to GPUs.
constexpr int first_tracer_index = 1000;

class EmulatedKernel final : public Kernel {
 public:
  EmulatedKernel(EmulatedDevice& device, std::string_view op, const KernelWork& work)
      : device_(device),
        count_(work.kernels),
        seconds_(kernel_seconds(device.profile(), work) / static_cast<double>(work.kernels)),
        work_{&device.kernels(), to_clock(seconds_), SpanClass::compute, std::make_shared<const std::string>(op)} {}

  std::string_view implementation() const override { return "emulated"; }
  std::optional<Seconds> known_time() const override { return count_ * work_.length; }
  void run(Stream& stream, std::span<const TensorView>, std::span<const TensorView>, std::span<std::byte>) override {
    for (std::int64_t kernel = 0; kernel < count_; ++kernel) {
      device_.count_kernel(seconds_);
      emulated_stream(stream).launch(work_);
    }
  }

 private:
  EmulatedDevice& device_;
  std::int64_t count_;
  double seconds_;  ///< of each
  BookedWork work_;
};

}  // namespace

EmulatedBackend::EmulatedBackend(const BackendConfig& config) : options_(config.own<EmulatedOptions>()) {}

bool EmulatedBackend::fuses(const Op& op, const Signature&, Device&) const {
  // cuBLASLt has these epilogues for almost every size. Up to which size one block is enough, no profile knows.
  return dynamic_cast<const MeasuredCrossEntropy*>(&op) == nullptr;
}

std::unique_ptr<Kernel> EmulatedBackend::plan(const Op& op, const Signature& signature, Device& device) const {
  if (auto nothing = kernel_without_work(signature)) return nothing;
  EmulatedDevice& own = emulated_device(device);
  return std::make_unique<EmulatedKernel>(own, op.name(), work_of(op, signature));
}

const Profile& EmulatedBackend::profile_of(const DeviceId& id) const {
  if (id.model != custom_name) return known_profile(id.model).profile;
  if (options_.custom) return *options_.custom;
  throw Error(fmt::format("there is no device {} yet: describe it with gb.config.set_custom_profile", to_string(id)));
}

Device* EmulatedBackend::named(const DeviceId& id) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Device>& device = devices_[id];
  if (device != nullptr) return device.get();
  try {
    const Profile& profile = profile_of(id);
    if (id.index >= most_devices) {
      throw Error(fmt::format("there is no device {}; there are emulated:{}:0 to emulated:{}:{}", to_string(id),
                              id.model, id.model, most_devices - 1));
    }
    const auto memory = options_.memory.find(id);
    // All profiles have numbers of their own.
    const std::span<const SourcedProfile> all = known_profiles();
    const auto known = std::ranges::find(all, id.model, [](const SourcedProfile& one) { return one.profile.name; });
    const int index = first_tracer_index + most_devices * static_cast<int>(known - all.begin()) + id.index;
    device = std::make_unique<EmulatedDevice>(
        id, index, profile, memory == options_.memory.end() ? PoolOptions{} : memory->second, map_, log_);
  } catch (...) {
    devices_.erase(id);
    throw;
  }
  return device.get();
}

std::unique_ptr<Tracer> EmulatedBackend::new_tracer() const {
  return std::make_unique<EmulatedTracer>(log_);
}

}  // namespace gpubench
