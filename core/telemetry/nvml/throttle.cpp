#include "core/telemetry/nvml/throttle.h"

#include <array>
#include <string_view>

namespace gpubench {
namespace {

struct Reason {
  std::uint64_t bit;
  std::string_view words;
  bool harms;
};

// nvmlClocksEventReasons, docs.nvidia.com/deploy/nvml-api/group__nvmlClocksEventReasons.html. The hardware's slowdown
// (0x08) is set beside its cause, heat or brake.
constexpr std::array reasons_list = {
    Reason{0x04, "power limit", false},
    Reason{0x08, "hardware slowdown", true},
    Reason{0x10, "clocks tied to slower GPUs", false},
    Reason{0x20, "thermal slowdown", true},
    Reason{0x40, "hardware thermal slowdown", true},
    Reason{0x80, "power brake", true},
    Reason{0x100, "display clocks", false},
};

}  // namespace

std::string throttle_words(std::uint64_t reasons) {
  std::string text;
  for (const Reason& reason : reasons_list) {
    if ((reasons & reason.bit) == 0) continue;
    if (!text.empty()) text += ", ";
    text += reason.words;
  }
  return text;
}

std::uint64_t harmful(std::uint64_t reasons) {
  std::uint64_t result = 0;
  for (const Reason& reason : reasons_list) {
    if (reason.harms) result |= reasons & reason.bit;
  }
  return result;
}

}  // namespace gpubench
