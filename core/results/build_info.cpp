#include "core/results/build_info.h"

#include "commit.h"

namespace gpubench {

Info build_info() {
  Info info;
  info.set("version", GPUBENCH_VERSION);
  if (*GPUBENCH_COMMIT != '\0') info.set("commit", GPUBENCH_COMMIT);
  info.set("compiler", "GCC " __VERSION__);
  info.set("build", GPUBENCH_BUILD);
  return info;
}

}  // namespace gpubench
