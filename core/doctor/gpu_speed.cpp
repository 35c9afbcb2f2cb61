// What lowers a GPU's clocks, and whether its driver stays loaded.
#include <cstdint>
#include <fmt/format.h>

#include "core/base/units.h"
#include "core/doctor/checks.h"
#include "core/telemetry/peaks.h"

namespace gpubench {
namespace {

/// Boost clocks move by a few steps with temperature and load.
constexpr double boost_clock_share = 0.85;
constexpr double full_power_share = 0.98;
constexpr double hz_in_mhz = 1e6;

std::string clock_text(double now, double most) {
  return fmt::format("multiprocessors at {:.0f} of {:.0f} MHz", now / hz_in_mhz, most / hz_in_mhz);
}

}  // namespace

CheckResult check_gpu_throttling(const Machine&, const MachineGpu& gpu) {
  const auto reasons = gpu.sensors->throttle_reasons();
  if (!reasons) return unknown("the driver does not report why clocks are lowered");
  const auto celsius = gpu.sensors->temperature_c();
  const std::string heat = celsius ? fmt::format("{:.0f} °C", *celsius) : std::string();
  if (const std::uint64_t harm = harmful(*reasons); harm != 0) {
    return costs_speed(throttle_words(harm) + (heat.empty() ? "" : ", " + heat), "kernels run at lowered clocks",
                       "improve the cooling and the power supply; what is measured now does not count");
  }
  return ok(heat.empty() ? "none" : "none, " + heat);
}

CheckResult check_gpu_clocks(const Machine&, const MachineGpu& gpu) {
  const auto limit = gpu.sensors->power_limit_w(), full = gpu.sensors->default_power_limit_w();
  if (limit && full && *limit < full_power_share * *full) {
    return costs_speed(fmt::format("the power limit is {:.0f} of {:.0f} W", *limit, *full),
                       "long kernels run at lowered clocks", "nvidia-smi -pl, as root, if the cooling allows it");
  }
  const auto now = gpu.sensors->sm_clock_hz(), most = gpu.sensors->max_sm_clock_hz();
  if (!now || !most || *most <= 0) return unknown("the driver does not report the clocks");
  const std::uint64_t reasons = gpu.sensors->throttle_reasons().value_or(0);
  if ((reasons & gpu_idle_reason) != 0)
    return ok(fmt::format("idle; at most {:.0f} MHz under load", *most / hz_in_mhz));
  if (*now >= boost_clock_share * *most) return ok(clock_text(*now, *most));
  if ((reasons & power_limit_reason) != 0) return ok(clock_text(*now, *most) + ", at the power limit as usual");
  const bool chosen = (reasons & chosen_clocks_reason) != 0;
  return costs_speed(clock_text(*now, *most) + (chosen ? ", as somebody has set them" : ""),
                     "kernels run slower than the card can",
                     chosen ? "nvidia-smi --reset-applications-clocks and --reset-gpu-clocks, as root"
                            : "nvidia-smi -q -d CLOCK,PERFORMANCE tells what lowers them");
}

CheckResult check_gpu_persistence(const Machine&, const MachineGpu& gpu) {
  const auto on = gpu.sensors->persistence();
  if (!on) return unknown("the driver does not report its persistence mode");
  if (*on) return ok("on");
  return costs_speed("off: the driver unloads when no program uses the GPU",
                     "every program starts seconds later, and set clocks are forgotten",
                     "nvidia-persistenced, or nvidia-smi -pm 1, as root");
}

CheckResult check_gpu_mig(const Machine&, const MachineGpu& gpu) {
  if (const auto& slice = gpu.gpu.slice) {
    return costs_speed(
        fmt::format("this process has the slice {}: {} of memory, {}", slice->profile,
                    format_bytes(static_cast<double>(slice->memory_bytes)),
                    multiprocessors_text(gpu.sensors->name(), *slice)),
        "its rates are not those of the GPU, and power and counters, which belong to the whole GPU, are not measured",
        "compare it with slices of its kind only; switch MIG off if one "
        "program shall have all: nvidia-smi -mig 0, as root");
  }
  if (!gpu.sensors->mig().value_or(false)) return ok("off");
  return costs_speed("on: the GPU is split into instances",
                     "a program has the units and the memory of its instance only",
                     "switch it off if one program shall have all: nvidia-smi -mig 0, as root");
}

CheckResult check_gpu_errors(const Machine&, const MachineGpu& gpu) {
  const auto ecc = gpu.sensors->ecc();
  if (!ecc) return ok("this GPU counts no memory errors");
  if (!*ecc) return ok("ECC is off");
  const auto errors = gpu.sensors->uncorrected_errors();
  if (!errors) return unknown("the driver does not report errors of the memory");
  if (*errors == 0) return ok("none");
  return wrong(fmt::format("{} uncorrected since the driver was loaded", *errors),
               "programs that meet them fail, and results may be wrong",
               "reset the GPU (nvidia-smi --gpu-reset, as root); if they come again, replace the card");
}

}  // namespace gpubench
