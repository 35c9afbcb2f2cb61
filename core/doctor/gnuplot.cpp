#include <sstream>
#include <unistd.h>

#include "core/doctor/checks.h"

namespace gpubench {

CheckResult check_gnuplot(const Machine& machine) {
  std::istringstream folders(machine.variable("PATH").value_or(""));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path program = std::filesystem::path(folder.empty() ? "." : folder) / "gnuplot";
    std::error_code hidden;
    if (std::filesystem::is_regular_file(program, hidden) && ::access(program.c_str(), X_OK) == 0)
      return ok(program.string());
  }
  return wrong("there is no program gnuplot on the PATH", "reports have no charts",
               "install the package gnuplot-nox; gpubench finish RUN then draws them");
}

}  // namespace gpubench
