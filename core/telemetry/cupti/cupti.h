// An opened CUPTI that collects activity records.
#pragma once
#include <optional>
#include <string_view>

#include "core/base/shared_library.h"
#include "core/telemetry/cupti/activity.h"
#include "core/telemetry/cupti/activity_tracer.h"
#include "core/telemetry/cupti/buffers.h"
#include "core/telemetry/cupti/functions.h"

namespace gpubench {

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

}  // namespace gpubench
