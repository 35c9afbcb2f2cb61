// The communicators of a program that was built without NCCL's header.
#include "core/base/error.h"
#include "core/comm/nccl/nccl_factory.h"

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

}  // namespace gpubench
