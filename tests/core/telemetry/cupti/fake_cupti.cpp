#include "tests/core/telemetry/cupti/fake_cupti.h"

#include <cassert>
#include <cstring>
#include <utility>

namespace gpubench::support {
namespace {

FakeCupti* fake_cupti = nullptr;

CUptiResult CUPTIAPI next_record(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  auto* place = reinterpret_cast<std::uint8_t*>(*record);
  place = place == nullptr ? buffer : place + fake_cupti->sizes.at(place);
  if (place >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(place);
  return CUPTI_SUCCESS;
}

}  // namespace

FakeCupti::FakeCupti() {
  assert(fake_cupti == nullptr);
  fake_cupti = this;
}
FakeCupti::~FakeCupti() {
  fake_cupti = nullptr;
}

CUpti_ActivityKernel10 FakeCupti::kernel(const char* name, std::uint64_t begin, std::uint64_t end,
                                         std::uint32_t correlation) {
  CUpti_ActivityKernel10 kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.name = name;
  kernel.start = begin;
  kernel.end = end;
  kernel.deviceId = 2;
  kernel.streamId = 7;
  kernel.correlationId = correlation;
  return kernel;
}

void FakeCupti::write(const void* record, std::size_t bytes, CUpti_ActivityKind kind) {
  if (!enabled.contains(kind)) return;
  const std::size_t padded = (bytes + 7) / 8 * 8;
  if (used_ + padded > room_) complete();
  if (buffer_ == nullptr) {
    std::size_t most = 0;
    request(&buffer_, &room_, &most);
    if (buffer_ != nullptr) ++buffers_held;
  }
  if (used_ + padded > room_) {
    ++dropped;
    return;
  }
  std::memcpy(buffer_ + used_, record, bytes);
  sizes[buffer_ + used_] = padded;
  used_ += padded;
}

void FakeCupti::complete() {
  if (buffer_ == nullptr) return;
  --buffers_held;
  give_back(nullptr, 0, std::exchange(buffer_, nullptr), std::exchange(room_, 0), std::exchange(used_, 0));
}

CuptiFunctions FakeCupti::functions() {
  CuptiFunctions table{};
  table.register_callbacks = [](CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete) {
    fake_cupti->request = request;
    fake_cupti->give_back = complete;
    return CUPTI_SUCCESS;
  };
  table.enable = [](CUpti_ActivityKind kind) {
    if (kind == fake_cupti->refused) return CUPTI_ERROR_NOT_INITIALIZED;
    fake_cupti->enabled.insert(kind);
    fake_cupti->attached = true;
    return CUPTI_SUCCESS;
  };
  table.disable = [](CUpti_ActivityKind kind) {
    fake_cupti->enabled.erase(kind);
    return CUPTI_SUCCESS;
  };
  table.flush_all = [](std::uint32_t flag) {
    assert(flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    if (fake_cupti->lost) return CUPTI_ERROR_NOT_INITIALIZED;
    fake_cupti->complete();
    return CUPTI_SUCCESS;
  };
  table.next_record = &next_record;
  table.dropped_records = [](CUcontext, std::uint32_t, std::size_t* dropped) {
    *dropped = std::exchange(fake_cupti->dropped, 0);
    return CUPTI_SUCCESS;
  };
  table.timestamp = [](std::uint64_t* now) {
    *now = fake_cupti->now_ns;
    return CUPTI_SUCCESS;
  };
  table.callback_name = [](CUpti_CallbackDomain domain, std::uint32_t id, const char** name) {
    if (id != 13) return CUPTI_ERROR_INVALID_PARAMETER;
    *name = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? "cudaLaunchKernel_v7000" : "cuLaunchKernel";
    return CUPTI_SUCCESS;
  };
  table.result_string = [](CUptiResult, const char** text) {
    *text = "CUPTI_ERROR_NOT_INITIALIZED";
    return CUPTI_SUCCESS;
  };
  table.finalize = [] {
    assert(fake_cupti->enabled.empty());
    fake_cupti->complete();
    fake_cupti->attached = false;
    return CUPTI_SUCCESS;
  };
  return table;
}

}  // namespace gpubench::support
