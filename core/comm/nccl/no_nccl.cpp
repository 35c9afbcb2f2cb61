// The communicators of a program that was built without NCCL's header.
#include <cstdlib>

#include "core/base/error.h"
#include "core/comm/nccl/nccl_communicators.h"

namespace gpubench {
namespace {

constexpr const char* reason = "nccl: this gpubench was built without NCCL (nccl.h was not found)";

}  // namespace

Seconds nccl_patience() {
  throw Error(reason);
}

std::vector<std::unique_ptr<Communicator>> make_nccl_communicators(std::span<Device* const>, ProcessGroup*, Seconds) {
  throw Error(std::string(reason) + "; cross_device = \"local\" exchanges through the host's memory");
}

std::unique_ptr<ProcessGroup> join_by_nccl_id(const JoinOptions&) {
  if (const char* const id = std::getenv("GPUBENCH_NCCL_ID"); id == nullptr || *id == '\0') return nullptr;
  throw Error(std::string("GPUBENCH_NCCL_ID is set; ") + reason);
}

}  // namespace gpubench
