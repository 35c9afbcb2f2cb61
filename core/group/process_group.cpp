#include "core/group/process_group.h"

#include <array>
#include <fstream>
#include <unistd.h>

namespace gpubench {

std::string machine_id() {
  std::array<char, 256> name{};
  static_cast<void>(::gethostname(name.data(), name.size() - 1));
  // Containers of one machine may have equal or different names; the boot id is that of their machine.
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::string id;
  return boot >> id ? id : std::string(name.data());
}

}  // namespace gpubench
