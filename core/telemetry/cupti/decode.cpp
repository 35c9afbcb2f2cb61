#include <cstdlib>
#include <cxxabi.h>
#include <memory>

#include "core/telemetry/cupti/cupti.h"
#include "core/trace/copy_path.h"

namespace gpubench {
namespace {

std::string readable(const char* name) {
  if (name == nullptr) return "unknown";
  int failed = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &failed),
                                                         &std::free);
  return failed == 0 ? text.get() : name;
}

CopyPath path_of(const CUpti_ActivityMemcpy6& copy) {
  switch (copy.copyKind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return copy.srcKind == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE ? CopyPath::pageable_to_device
             : copy.srcKind == CUPTI_ACTIVITY_MEMORY_KIND_PINNED ? CopyPath::pinned_to_device
                                                                 : CopyPath::host_to_device;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return CopyPath::device_to_host;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return CopyPath::within_device;
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return CopyPath::between_devices;
    default:
      return CopyPath::unknown;
  }
}

// Records of all kinds of work call these fields alike. Their layouts are packed, so fields are copied, never referred
// to.
template <class Record>
CuptiActivity device_work(const Record& record, CuptiActivity::Kind kind, std::string name) {
  CuptiActivity activity;
  activity.kind = kind;
  activity.name = std::move(name);
  activity.begin_ns = record.start;
  activity.end_ns = record.end;
  activity.correlation = record.correlationId;
  activity.device = record.deviceId;
  activity.stream = record.streamId;
  return activity;
}

CuptiActivity call(const CUpti_ActivityAPI& record, CUpti_CallbackDomain domain, const CuptiFunctions& functions) {
  const char* name = nullptr;
  if (functions.callback_name(domain, record.cbid, &name) != CUPTI_SUCCESS || name == nullptr) name = "CUDA call";
  CuptiActivity activity;
  activity.kind = CuptiActivity::Kind::api_call;
  activity.name = name;
  activity.begin_ns = record.start;
  activity.end_ns = record.end;
  activity.correlation = record.correlationId;
  activity.thread = record.threadId;
  return activity;
}

std::optional<CuptiActivity> synchronization(const CUpti_ActivitySynchronization2& record) {
  if (record.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT) return std::nullopt;  // no host waits
  CuptiActivity activity;
  activity.kind = CuptiActivity::Kind::synchronization;
  activity.name = "waiting for the device";
  activity.begin_ns = record.start;
  activity.end_ns = record.end;
  activity.correlation = record.correlationId;
  return activity;
}

template <class Record>
const Record& as(const CUpti_Activity& record) {
  return reinterpret_cast<const Record&>(record);
}

}  // namespace

std::optional<CuptiActivity> decode(const CUpti_Activity& record, const CuptiFunctions& functions) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& kernel = as<CUpti_ActivityKernel10>(record);
      return device_work(kernel, CuptiActivity::Kind::kernel, readable(kernel.name));
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = as<CUpti_ActivityMemcpy6>(record);
      return device_work(copy, CuptiActivity::Kind::copy, std::string(span_name(path_of(copy))));
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return device_work(as<CUpti_ActivityMemcpyPtoP4>(record), CuptiActivity::Kind::peer_copy,
                         std::string(span_name(CopyPath::between_devices)));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return device_work(as<CUpti_ActivityMemset4>(record), CuptiActivity::Kind::memset, "memset");
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return device_work(as<CUpti_ActivityGraphTrace2>(record), CuptiActivity::Kind::graph, "graph");
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return call(as<CUpti_ActivityAPI>(record), CUPTI_CB_DOMAIN_RUNTIME_API, functions);
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return call(as<CUpti_ActivityAPI>(record), CUPTI_CB_DOMAIN_DRIVER_API, functions);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return synchronization(as<CUpti_ActivitySynchronization2>(record));
    default:
      return std::nullopt;
  }
}

}  // namespace gpubench
