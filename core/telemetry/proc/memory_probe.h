// Memory of this process as the kernel counts it; the peak is the process's own high-water mark and never falls.
#pragma once
#include <filesystem>

#include "core/telemetry/probe.h"

namespace gpubench {

/// Columns: resident_memory_bytes, resident_memory_peak_bytes.
class MemoryProbe final : public Probe {
 public:
  explicit MemoryProbe(std::filesystem::path proc = "/proc");

  std::string_view name() const override { return "memory"; }
  std::span<const std::string_view> columns() const override;
  void read(std::span<double> values) override;

 private:
  std::filesystem::path proc_;
};

}  // namespace gpubench
