#include "core/experiment/kernels/kernels.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <cmath>
#include <exception>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/device/device.h"
#include "core/experiment/kernels/kernel_case.h"
#include "core/experiment/kernels/matmul_peak.h"
#include "core/experiment/steps/step_measurement.h"
#include "core/measure/stats/quantile.h"

namespace gpubench {
namespace {

/// Two reads of the clock take about 50 ns: runs are grouped until that is below half a percent of a sample.
constexpr double shortest_sample = 1e-5;
/// Waiting for an accelerator takes about 10 us: also below half a percent.
constexpr double shortest_sample_of_accelerator = 5e-3;
constexpr double kernel_warmup_share = 0.2;

/// Ignores reports: times are taken where the kernels run.
class SilentReporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

/// Runs one case as the body of a benchmark. Exceptions are kept until Google Benchmark returns, because it does not
/// handle them.
class Trial {
 public:
  Trial(const KernelCase& one, const Backend& backend, Device& device, Seconds budget)
      : kernel_(backend, device, *one.description, one.inputs),
        budget_(budget),
        shortest_sample_(device.shares_host_memory() ? shortest_sample : shortest_sample_of_accelerator) {
    result_.kernel = one;
    result_.implementation = kernel_.implementation();
    result_.flops = kernel_.flops();
    result_.bytes = kernel_.bytes();
  }

  Seconds measuring_time() const { return budget_ * (1 - kernel_warmup_share); }

  void run(benchmark::State& state) {
    try {
      if (group_ == 0) warm_up();
      samples_.clear();
      for (auto _ : state) {
        const double seconds = time_group();
        samples_.push_back(seconds);
        state.SetIterationTime(seconds * group_);
        check_interrupt();
      }
    } catch (...) {
      failure_ = std::current_exception();
      state.SkipWithError("failed");
    }
  }

  KernelMeasurement finish() {
    if (failure_) std::rethrow_exception(failure_);
    result_.time = estimate_median(samples_);
    result_.samples = std::move(samples_);
    return std::move(result_);
  }

 private:
  void warm_up() {
    group_ = 1;
    static_cast<void>(time_group());  // the first run loads the kernel and says nothing of the others
    const Stopwatch watch;
    double fastest = time_group();
    while (watch.elapsed() < budget_ * kernel_warmup_share) {
      fastest = std::min(fastest, time_group());
      check_interrupt();
    }
    group_ = std::max(1, static_cast<int>(std::ceil(shortest_sample_ / std::max(fastest, 1e-9))));
  }

  /// Mean seconds of one run in a group.
  double time_group() {
    const Stopwatch watch;
    for (int i = 0; i < group_; ++i) kernel_.run();
    kernel_.synchronize();
    return watch.elapsed().count() / group_;
  }

  PlannedKernel kernel_;
  Seconds budget_;
  double shortest_sample_;
  KernelMeasurement result_;
  std::vector<double> samples_;
  std::exception_ptr failure_;
  int group_ = 0;
};

KernelMeasurement measure_one(const KernelCase& one, const Backend& backend, Device& device, Seconds budget) {
  Trial trial(one, backend, device, budget);
  const std::string name = fmt::format("{}/{}/{}", one.op, one.shape, to_string(one.dtype));
  benchmark::ClearRegisteredBenchmarks();
  benchmark::RegisterBenchmark(name.c_str(), [&trial](benchmark::State& state) { trial.run(state); })
      ->UseManualTime()
      ->MinTime(trial.measuring_time().count());
  SilentReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::ClearRegisteredBenchmarks();
  return trial.finish();
}

}  // namespace

std::vector<KernelMeasurement> measure_kernels(std::span<const KernelCase> cases, const Backend& backend,
                                               Device& device, Seconds budget) {
  if (cases.empty()) throw Error("measure.kernels: there is nothing to measure; give at least one matmul or conv2d");
  // Google Benchmark ends the program for a time that is not above 0.
  constexpr Seconds least_each{1e-6};
  const Seconds each = budget / static_cast<double>(cases.size());
  if (!(each >= least_each) || !std::isfinite(each.count())) {
    throw Error(fmt::format("measure.kernels: a budget of {} s for {} kernels; at least {} s for each are needed",
                            budget.count(), cases.size(), least_each.count()));
  }
  std::vector<KernelMeasurement> results;
  for (const KernelCase& one : cases) {
    results.push_back(measure_one(one, backend, device, each));
  }
  return results;
}

Record to_record(const KernelMeasurement& measurement, const DeviceId& device, std::optional<double> best_flops_per_s) {
  Record record{{"op", measurement.kernel.op},
                {"shape", measurement.kernel.shape},
                {"dtype", std::string(to_string(measurement.kernel.dtype))},
                {"implementation", measurement.implementation},
                {"device", to_string(device)},
                {"steps", static_cast<std::int64_t>(measurement.samples.size())},
                {"flops_per_step", measurement.flops},
                {"bytes_per_s", measurement.bytes / measurement.time.value}};
  set_estimate(record, "step_time_s", measurement.time);
  if (!measurement.samples.empty()) record.set("step_time_p95_s", quantile(measurement.samples, 0.95));
  set_rate(record, "flops_per_s", measurement.flops, measurement.time);
  record.set("detail", "no shares: one kernel is timed, not a step");
  if (best_flops_per_s) set_mfu(record, measurement.flops, *best_flops_per_s, measurement.time);
  return record;
}

}  // namespace gpubench
