#include "core/run/job_machine.h"

#include <fmt/format.h>
#include <string>
#include <utility>

#include "core/doctor/check.h"

namespace gpubench {
namespace {

Info machine_fact(const char* name, std::string found, const char* consequence, const char* remedy) {
  return Info::Fields{{"name", name},
                      {"state", std::string(to_string(CheckState::costs_speed))},
                      {"found", std::move(found)},
                      {"consequence", consequence},
                      {"remedy", remedy}};
}

/// What slowed its GPUs down, or used them too.
void add_gpu_facts(Info::List& facts, std::span<const JobGpu> gpus) {
  for (const JobGpu& gpu : gpus) {
    if (gpu.throttled > 0)
      facts.push_back(machine_fact(
          "GPU slowed down",
          fmt::format(
              "{} was slowed down ({}) at {} of {} readings: multiprocessors at {:.0f} MHz at the lowest, {:.0f} °C",
              gpu.name, throttle_words(gpu.reasons), gpu.throttled, gpu.readings, gpu.lowest_sm_clock_hz / 1e6,
              gpu.highest_temperature_c),
          "kernels run at lowered clocks", "improve the cooling and the power supply"));
    if (!gpu.others.empty())
      facts.push_back(machine_fact("GPU shared",
                                   fmt::format("{} is shared with {}", gpu.name, to_string(std::span(gpu.others))),
                                   "kernels of others run between those of the job", "run the job alone on its GPU"));
  }
}

}  // namespace

Info::List machine_facts(const JobUse& use, std::span<const JobGpu> gpus) {
  Info::List facts;
  add_gpu_facts(facts, gpus);
  if (use.seconds <= 0) return facts;
  if (use.is_disturbed())
    facts.push_back(machine_fact(
        "other programs",
        fmt::format("other programs or the hypervisor used {:.1f} processors; the job did not get {:.0f} % of the "
                    "processor time that it wanted",
                    (use.others_s.value_or(0) + use.stolen_s.value_or(0)) / use.seconds,
                    100 * use.lost_share().value_or(0)),
        "steps take longer, and the job's threads wait for processors", "run the job alone on these processors"));
  constexpr double much = 0.01;
  if (use.throttled_s && *use.throttled_s > much * use.seconds)
    facts.push_back(machine_fact(
        "control group",
        fmt::format("the processors stood still {:.0f} % of the time, as the quota of the control group was used up",
                    100 * *use.throttled_s / use.seconds),
        "all threads of the job stop until the next period", "a higher limit of processors, or fewer threads"));
  return facts;
}

}  // namespace gpubench
