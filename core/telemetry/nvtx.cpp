#include "core/telemetry/nvtx.h"

#include <nvtx3/nvToolsExt.h>

namespace gpubench {

NvtxRange::NvtxRange(const char* name) {
  nvtxRangePushA(name);
}
NvtxRange::~NvtxRange() {
  nvtxRangePop();
}

}  // namespace gpubench
