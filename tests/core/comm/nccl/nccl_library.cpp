// The functions of the machine's own NCCL, on machines without a GPU: all are there, and the two that need no GPU
// answer. The program is one CTest test, skipped where there is no NCCL.
#include <cstdio>

#include "core/base/error.h"
#include "core/comm/nccl/nccl_functions.h"

int main() {
  try {
    static_cast<void>(gpubench::nccl::functions());
  } catch (const gpubench::Error& error) {
    std::printf("skipped: %s\n", error.what());
    return 77;
  }
  const std::string version = gpubench::nccl::library_version(), name = gpubench::nccl::name();
  std::printf("%s\n", name.c_str());
  const bool named = name.starts_with("nccl " + version);
  const std::string reason = gpubench::nccl::reason(ncclInvalidArgument, nullptr);
  std::printf("%s\n", reason.c_str());
  return version.starts_with("2.") && named && reason.find("invalid argument") != std::string::npos ? 0 : 1;
}
