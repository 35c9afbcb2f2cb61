// What one check of the machine found: a fact, what it costs, and what to do. `gpubench doctor`, `gpubench nightly`,
// the wait for an idle machine and the diagnosis of a run all read this.
#pragma once
#include <string>
#include <string_view>

namespace gpubench {

enum class CheckState {
  ok,
  costs_speed,  ///< work runs, slower than this machine could
  wrong,        ///< something does not work, or computes wrongly
  unknown,      ///< the machine does not show it; `found` is the reason
};
/// "ok", "costs speed", "wrong", "unknown".
std::string_view to_string(CheckState state);
/// `unknown` for any other text.
CheckState check_state(std::string_view text);

struct CheckResult {
  std::string name;    ///< of the check, a row of the table in docs/doctor.md: "gpu_throttling", "load"
  std::string device;  ///< "gpu:0"; empty if it is about the whole machine
  CheckState state = CheckState::unknown;
  std::string found;        ///< "thermal slowdown, 87 °C"; never empty
  std::string consequence;  ///< "kernels run at lowered clocks"; empty if the state is ok
  std::string remedy;       ///< "improve the cooling"; empty if the state is ok

  bool is_problem() const { return state == CheckState::costs_speed || state == CheckState::wrong; }
};

}  // namespace gpubench
