// Ops are tested on the first GPU.
#include "core/backend/cuda/cuda_backend.h"
#include "core/device/device.h"
#include "tests/support/case_checks.h"

namespace gpubench::support {
namespace {

const CudaBackend& cuda() {
  static const CudaBackend backend(BackendConfig{});
  return backend;
}

}  // namespace

const std::vector<Place>& places() {
  static const std::vector<Place> places = [] {
    std::vector<Place> result;
    if (!cuda().devices().empty()) result.push_back({&cuda(), cuda().devices().front().get(), true});
    return result;
  }();
  return places;
}

std::string why_no_place() {
  return to_string(cuda().absence());
}

}  // namespace gpubench::support
