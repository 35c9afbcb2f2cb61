// Processor time and memory of this process, from the kernel.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/telemetry/sampler.h"

namespace gpubench {

/// Columns: cpu_process_share (1: this process uses every CPU of the machine), cpu_machine_share (all processes),
/// context_switches_per_s, involuntary_switches_per_s (this process).
class CpuProbe final : public Probe {
 public:
  /// `proc`: where the process file system is mounted; tests pass their own.
  explicit CpuProbe(std::filesystem::path proc = "/proc");

  std::string_view name() const override { return "cpu"; }
  std::span<const std::string_view> columns() const override;
  void read(std::span<double> values) override;

 private:
  struct Reading {
    double process_s;
    double machine_busy_s;
    double machine_total_s;
    double voluntary;
    double involuntary;
  };
  Reading take() const;

  std::filesystem::path proc_;
  Stopwatch since_;
  Reading last_;
};

/// Bytes that the kernel has read from storage for this process so far, also for pages of mapped files (read_bytes of
/// /proc/self/io, proc(5)); none where it does not tell.
std::optional<double> bytes_read_from_storage(const std::filesystem::path& proc = "/proc");

/// Columns: resident_memory_bytes, resident_memory_peak_bytes (the process's high-water mark, which never falls).
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
