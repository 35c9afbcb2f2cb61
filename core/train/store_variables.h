// Creates variables in a runtime's store. Seeds come from the caller's global sequence, so that a script that builds
// the same models in the same order gets the same initial weights.
#pragma once
#include <cstdint>
#include <functional>

#include "core/exec/runtime.h"
#include "core/nn/initializer.h"

namespace gpubench {

class StoreVariables final : public VariableFactory {
 public:
  using Seeds = std::function<std::uint64_t()>;
  StoreVariables(Runtime& runtime, Seeds seeds) : runtime_(runtime), seeds_(std::move(seeds)) {}

  VariablePtr create(std::string name, const HostTensor& initial, const DeviceId& device, bool trainable,
                     OwnerPtr owner) override {
    return runtime_.variables().create(std::move(name), initial, device, trainable, std::move(owner));
  }
  std::uint64_t next_seed() override { return seeds_(); }

 private:
  Runtime& runtime_;
  Seeds seeds_;
};

}  // namespace gpubench
