// A CUPTI of our own: it asks for buffers, writes the records that a test put down into them, and gives them back.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/telemetry/cupti/cupti.h"

namespace gpubench::support {

/// One at a time: CUPTI's functions take no state.
class FakeCupti {
 public:
  FakeCupti();
  ~FakeCupti();
  FakeCupti(const FakeCupti&) = delete;
  FakeCupti& operator=(const FakeCupti&) = delete;

  static CuptiFunctions functions();

  /// As CUPTI does while work runs: fills buffers, drops what finds no room. Nothing while its kind is not enabled.
  template <class Record>
  void record(const Record& record) {
    write(&record, sizeof(Record), record.kind);
  }
  static CUpti_ActivityKernel10 kernel(const char* name, std::uint64_t begin, std::uint64_t end,
                                       std::uint32_t correlation);

  std::set<CUpti_ActivityKind> enabled;
  /// Fails with CUPTI_ERROR_NOT_INITIALIZED when enabled.
  CUpti_ActivityKind refused = CUPTI_ACTIVITY_KIND_INVALID;
  std::uint64_t now_ns = 1000;
  std::size_t dropped = 0;
  int buffers_held = 0;
  /// The GPU was lost: CUPTI's calls about its contexts fail, and give no buffer back.
  bool lost = false;
  /// Whether it hooks into the driver's calls: from the first activity that is enabled to cuptiFinalize.
  bool attached = false;

  // For its functions.
  void write(const void* record, std::size_t bytes, CUpti_ActivityKind kind);
  void complete();
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc give_back = nullptr;
  /// Bytes of the record that starts at a place.
  std::map<const std::uint8_t*, std::size_t> sizes;

 private:
  std::uint8_t* buffer_ = nullptr;
  std::size_t room_ = 0, used_ = 0;
};

}  // namespace gpubench::support
