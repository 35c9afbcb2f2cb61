// The checks, one function each; doctor.cpp has their table. A check throws Error for what it cannot read, which
// becomes the state unknown.
#pragma once
#include <string>
#include <vector>

#include "core/doctor/machine.h"

namespace gpubench {

// Of the machine.
CheckResult check_devices(const Machine& machine);
CheckResult check_driver(const Machine& machine);
CheckResult check_libraries(const Machine& machine);
CheckResult check_environment(const Machine& machine);
CheckResult check_load(const Machine& machine);
CheckResult check_cpu_limit(const Machine& machine);
CheckResult check_cpu_cores(const Machine& machine);
CheckResult check_cpu_governor(const Machine& machine);
CheckResult check_memory_limit(const Machine& machine);
CheckResult check_shared_memory(const Machine& machine);
CheckResult check_gnuplot(const Machine& machine);

// Of each GPU.
CheckResult check_gpu_sharing(const Machine& machine, const MachineGpu& gpu);
CheckResult check_gpu_throttling(const Machine& machine, const MachineGpu& gpu);
CheckResult check_gpu_clocks(const Machine& machine, const MachineGpu& gpu);
CheckResult check_gpu_mig(const Machine& machine, const MachineGpu& gpu);
CheckResult check_gpu_persistence(const Machine& machine, const MachineGpu& gpu);
CheckResult check_gpu_link(const Machine& machine, const MachineGpu& gpu);
CheckResult check_gpu_numa(const Machine& machine, const MachineGpu& gpu);
CheckResult check_gpu_errors(const Machine& machine, const MachineGpu& gpu);

}  // namespace gpubench
