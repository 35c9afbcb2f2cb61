// Variables without an executor: handles with the values that they were made with.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/nn/initializer.h"

namespace gpubench::support {

class FakeVariables final : public VariableFactory {
 public:
  VariablePtr create(std::string name, const HostTensor& initial, const DeviceId& device, bool trainable,
                     OwnerPtr owner) override {
    names.push_back(name);
    initials.emplace(name, initial);
    const auto index = static_cast<std::int32_t>(names.size()) - 1;
    return std::make_shared<const Variable>(
        Variable{index, std::move(name), initial.type(), device, trainable, std::move(owner)});
  }
  std::uint64_t next_seed() override { return ++seed; }

  std::vector<std::string> names;
  std::map<std::string, HostTensor> initials;
  std::uint64_t seed = 0;
};

}  // namespace gpubench::support
