// What the operating system says about the processor.
#pragma once
#include <string>

namespace gpubench {

/// "AMD EPYC 9354 32-Core Processor"; "CPU" where the system does not say.
std::string processor_name();
/// Cores that this process may run on; two hardware threads of one core count once. At least 1.
int usable_cores();

}  // namespace gpubench
