// A machine without faults: files below a folder, an environment, one GPU, its driver and libraries. A test changes
// what its fault changes.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/doctor/doctor.h"
#include "tests/core/telemetry/nvml/fake_nvml.h"
#include "tests/support/files.h"

namespace gpubench {

class DoctorTest : public TemporaryFolder {
 protected:
  DoctorTest();

  /// Writes `name` below the root, with its folders.
  void put(const std::string& name, const std::string& text) const;
  void remove(const std::string& name) const { std::filesystem::remove_all(file(name)); }
  /// The only result of the check `name`.
  CheckResult result(const std::string& name) const;
  /// "costs speed: 8 of 16 lanes".
  std::string state_of(const std::string& name) const;
  /// Without NVIDIA's card, driver and files.
  void take_gpu_away();

  support::FakeNvml nvml_;
  MachineSources sources_;
  std::map<std::string, std::string> environment_;
  /// Libraries that cannot be opened.
  std::set<std::string> missing_libraries_;
};

/// What the simulated libraries of NVIDIA tell: the variable of the environment is read at each call.
void set_library_version(const char* variable, int version);

}  // namespace gpubench
