#include "core/results/build_info.h"

namespace gpubench {

// Defined by the source that cmake/Commit.cmake writes at every build; empty outside a Git checkout.
extern const char* const built_commit;

Info build_info() {
  Info info;
  info.set("version", GPUBENCH_VERSION);
  if (*built_commit != '\0') info.set("commit", built_commit);
  info.set("compiler", "GCC " __VERSION__);
  info.set("build", GPUBENCH_BUILD);
  return info;
}

}  // namespace gpubench
