// An opened CUPTI that collects activity records. CUPTI comes with the toolkit or a Python wheel and must not be
// linked, so its functions are loaded at run time. Only sources that are compiled if cupti.h exists include this file.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cupti.h>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/shared_library.h"
#include "core/telemetry/cupti/activity_tracer.h"
#include "core/trace/activity.h"

namespace gpubench {

/// Memory for CUPTI's records, reserved in advance: the callbacks that hand it out and take it back run inside the CUDA
/// calls of measured work.
class ActivityBuffers {
 public:
  ActivityBuffers(std::size_t count, std::size_t bytes);

  /// nullptr when all buffers are in use: CUPTI then drops records and counts them.
  std::uint8_t* take();
  std::size_t bytes() const { return bytes_; }
  /// Stores a buffer whose first `valid` bytes hold records. A buffer without records becomes free again.
  void give_back(std::uint8_t* buffer, std::size_t valid);

  struct Filled {
    std::uint8_t* memory;
    std::size_t valid;
  };
  /// The stored buffers, in order.
  std::vector<Filled> filled() const;
  /// Makes all stored buffers free.
  void clear();

 private:
  std::size_t bytes_;
  mutable std::mutex mutex_;
  /// Records must be aligned to 8 bytes.
  std::vector<std::unique_ptr<std::uint64_t[]>> memory_;
  std::vector<std::uint8_t*> free_;
  std::vector<Filled> filled_;
};

/// The functions of CUPTI's activity API that gpubench calls.
struct CuptiFunctions {
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks;
  decltype(&cuptiActivityEnable) enable;
  decltype(&cuptiActivityDisable) disable;
  decltype(&cuptiActivityFlushAll) flush_all;
  decltype(&cuptiActivityGetNextRecord) next_record;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records;
  decltype(&cuptiGetTimestamp) timestamp;
  decltype(&cuptiGetCallbackName) callback_name;
  decltype(&cuptiGetResultString) result_string;
  decltype(&cuptiFinalize) finalize;
};

class Cupti {
 public:
  /// Opens the library that matches the headers of the build. Throws Error if there is none.
  Cupti();
  /// Uses the functions of a test.
  Cupti(const CuptiFunctions& functions, std::size_t buffer_count, std::size_t buffer_bytes);
  ~Cupti();
  Cupti(const Cupti&) = delete;
  Cupti& operator=(const Cupti&) = delete;

  void start();
  std::size_t stop(Timeline& timeline);

 private:
  void check(CUptiResult result, std::string_view call) const;
  void record();
  /// Ends recording from any state. Anything but CUPTI_SUCCESS: records are missing.
  CUptiResult end() noexcept;
  /// Detaches CUPTI from the driver after the last record was read. Attached, it would slow down all later launches of
  /// the process by 10 to 20 %, also while nothing is recorded (pytorch#144455). The next start() attaches it again.
  void detach() noexcept;
  ClockPair read_clocks() const;
  std::vector<CuptiActivity> decode_all();

  std::optional<SharedLibrary> library_;
  CuptiFunctions functions_{};
  ActivityBuffers buffers_;
  ClockPair started_;
  bool is_running_ = false, is_attached_ = false;
};

/// Converts a record to an CuptiActivity; nothing for kinds that are no spans. Calls only `callback_name` of the
/// functions.
std::optional<CuptiActivity> decode(const CUpti_Activity& record, const CuptiFunctions& functions);

}  // namespace gpubench
