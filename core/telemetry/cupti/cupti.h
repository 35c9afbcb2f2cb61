// An opened CUPTI that collects activity records. CUPTI comes with the toolkit or a Python wheel and must not be
// linked: its functions are found at run time. Only sources that CMake compiles where cupti.h is there include this.
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
#include "core/telemetry/cupti/activity.h"
#include "core/telemetry/cupti/activity_tracer.h"

namespace gpubench {

/// Memory that CUPTI writes records into. It is reserved before: the callbacks that hand it out and take it back run
/// inside CUDA calls of the work that is measured.
class ActivityBuffers {
 public:
  ActivityBuffers(std::size_t count, std::size_t bytes);

  /// nullptr when all are in use: CUPTI then drops records, and counts them.
  std::uint8_t* take();
  std::size_t bytes() const { return bytes_; }
  /// Keeps a buffer whose first `valid` bytes hold records. Without any it is free again.
  void give_back(std::uint8_t* buffer, std::size_t valid);

  struct Filled {
    std::uint8_t* memory;
    std::size_t valid;
  };
  /// Those given back with records so far, in their order.
  std::vector<Filled> filled() const;
  /// Frees them.
  void clear();

 private:
  std::size_t bytes_;
  mutable std::mutex mutex_;
  /// Records want to lie at multiples of 8 bytes.
  std::vector<std::unique_ptr<std::uint64_t[]>> memory_;
  std::vector<std::uint8_t*> free_;
  std::vector<Filled> filled_;
};

/// The functions of the activity API that gpubench calls.
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
};

class Cupti {
 public:
  /// Opens the library that goes with the headers gpubench was built with. Throws Error where there is none.
  Cupti();
  /// Over functions of a test's own.
  Cupti(const CuptiFunctions& functions, std::size_t buffer_count, std::size_t buffer_bytes);
  ~Cupti();
  Cupti(const Cupti&) = delete;
  Cupti& operator=(const Cupti&) = delete;

  void start();
  std::size_t stop(Timeline& timeline);

 private:
  void check(CUptiResult result, std::string_view call) const;
  void record();
  /// Whatever state it is in.
  void end() noexcept;
  ClockPair read_clocks() const;
  std::vector<Activity> decode_all();

  std::optional<SharedLibrary> library_;
  CuptiFunctions functions_{};
  ActivityBuffers buffers_;
  ClockPair started_;
  bool is_running_ = false;
};

/// One record as an Activity. Nothing for a record of a kind that is no span. Only `callback_name` of the functions is
/// called.
std::optional<Activity> decode(const CUpti_Activity& record, const CuptiFunctions& functions);

}  // namespace gpubench
