// Measures single kernels. Google Benchmark runs each case and decides how often; the times of single runs are kept, so
// that rows have an interval like any other measurement.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/backend/backend.h"
#include "core/experiment/kernels/kernel_case.h"
#include "core/measure/estimate.h"
#include "core/results/record.h"

namespace gpubench {

struct KernelMeasurement {
  KernelCase kernel;
  std::string implementation;
  double flops = 0, bytes = 0;
  Estimate time;                ///< seconds of one run
  std::vector<double> samples;  ///< seconds; runs shorter than the clock's resolution are timed in groups and divided
};

/// Measures each case for about `budget` / number of cases, warm-up included. Throws as planning does, and Interrupted.
std::vector<KernelMeasurement> measure_kernels(std::span<const KernelCase> cases, const Backend& backend,
                                               Device& device, Seconds budget);

/// The columns op, shape, dtype and implementation, and the standard ones: device, steps, step_time_s with its
/// interval, flops_per_step, flops_per_s, bytes_per_s; mfu (the share of `best_flops_per_s`) if that is known.
Record to_record(const KernelMeasurement& measurement, const DeviceId& device, std::optional<double> best_flops_per_s);

}  // namespace gpubench
