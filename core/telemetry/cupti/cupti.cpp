#include "core/telemetry/cupti/cupti.h"

#include <array>
#include <atomic>
#include <cassert>
#include <fmt/format.h>
#include <utility>

#include "core/base/error.h"

namespace gpubench {
namespace {

/// 64 MiB: some 200 000 records, of which a step leaves three a kernel.
constexpr std::size_t default_buffer_count = 32;
constexpr std::size_t default_buffer_bytes = std::size_t{2} << 20;

// Without GRAPH_TRACE, which would time a graph as one, CUPTI records a graph's nodes one by one.
constexpr std::array recorded_kinds = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                       CUPTI_ACTIVITY_KIND_MEMCPY2,           CUPTI_ACTIVITY_KIND_MEMSET,
                                       CUPTI_ACTIVITY_KIND_RUNTIME,           CUPTI_ACTIVITY_KIND_DRIVER,
                                       CUPTI_ACTIVITY_KIND_SYNCHRONIZATION};

/// CUPTI's callbacks carry nothing of their owner's, so the one tracer of the process stands here.
std::atomic<ActivityBuffers*> buffers_in_use{nullptr};

void CUPTIAPI on_request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  ActivityBuffers* const buffers = buffers_in_use.load();
  *buffer = buffers == nullptr ? nullptr : buffers->take();
  *bytes = *buffer == nullptr ? 0 : buffers->bytes();
  *most_records = 0;  // as many as fit
}

void CUPTIAPI on_complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  if (ActivityBuffers* const buffers = buffers_in_use.load()) buffers->give_back(buffer, valid);
}

SharedLibrary open_library() {
  constexpr int versions_per_major = 1000;
  const std::string name = fmt::format("libcupti.so.{}", CUDA_VERSION / versions_per_major);
  const std::array<std::string_view, 1> names = {name};
  SharedLibrary library(names, cuda_library_folders(python_package_folders()));
  library.keep_loaded();  // CUPTI hooks itself into the driver
  return library;
}

CuptiFunctions bound(const SharedLibrary& library) {
  CuptiFunctions table{};
  library.bind(table.register_callbacks, "cuptiActivityRegisterCallbacks");
  library.bind(table.enable, "cuptiActivityEnable");
  library.bind(table.disable, "cuptiActivityDisable");
  library.bind(table.flush_all, "cuptiActivityFlushAll");
  library.bind(table.next_record, "cuptiActivityGetNextRecord");
  library.bind(table.dropped_records, "cuptiActivityGetNumDroppedRecords");
  library.bind(table.timestamp, "cuptiGetTimestamp");
  library.bind(table.callback_name, "cuptiGetCallbackName");
  library.bind(table.result_string, "cuptiGetResultString");
  library.bind(table.finalize, "cuptiFinalize");
  return table;
}

}  // namespace

Cupti::Cupti()
    : library_(open_library()), functions_(bound(*library_)), buffers_(default_buffer_count, default_buffer_bytes) {}

Cupti::Cupti(const CuptiFunctions& functions, std::size_t buffer_count, std::size_t buffer_bytes)
    : functions_(functions), buffers_(buffer_count, buffer_bytes) {}

Cupti::~Cupti() {
  end();
  detach();
}

CUptiResult Cupti::end() noexcept {
  if (!std::exchange(is_running_, false)) return CUPTI_SUCCESS;
  for (const CUpti_ActivityKind kind : recorded_kinds) functions_.disable(kind);
  // CUPTI gives back all buffers that it holds, unless the GPU was lost.
  const CUptiResult flushed = functions_.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  buffers_in_use = nullptr;
  return flushed;
}

void Cupti::detach() noexcept {
  if (std::exchange(is_attached_, false)) functions_.finalize();
}

void Cupti::check(CUptiResult result, std::string_view call) const {
  if (result == CUPTI_SUCCESS) return;
  const char* reason = nullptr;
  if (functions_.result_string(result, &reason) != CUPTI_SUCCESS || reason == nullptr) reason = "unknown error";
  throw DeviceError("CUPTI", call, reason);
}

void Cupti::start() {
  ActivityBuffers* nobody = nullptr;
  if (!buffers_in_use.compare_exchange_strong(nobody, &buffers_)) {
    throw Error("tracing: another trace of this process is running; only one can");
  }
  is_running_ = is_attached_ = true;
  try {
    record();
  } catch (...) {
    end();
    detach();
    throw;
  }
}

void Cupti::record() {
  buffers_.clear();
  check(functions_.register_callbacks(&on_request, &on_complete), "cuptiActivityRegisterCallbacks");
  for (const CUpti_ActivityKind kind : recorded_kinds) check(functions_.enable(kind), "cuptiActivityEnable");
  std::size_t earlier = 0;
  functions_.dropped_records(nullptr, 0, &earlier);  // reading it sets it to zero
  started_ = read_clocks();
}

// Between two readings of our clock lies the reading of CUPTI's; the pair that took least is the best of several.
ClockPair Cupti::read_clocks() const {
  constexpr int attempts = 5;
  ClockPair best;
  Clock::duration least = Clock::duration::max();
  for (int i = 0; i < attempts; ++i) {
    std::uint64_t cupti_ns = 0;
    const Clock::time_point before = Clock::now();
    check(functions_.timestamp(&cupti_ns), "cuptiGetTimestamp");
    const Clock::duration took = Clock::now() - before;
    if (took >= least) continue;
    least = took;
    best = {before + took / 2, cupti_ns};
  }
  return best;
}

std::vector<CuptiActivity> Cupti::decode_all() {
  std::vector<CuptiActivity> activities;
  for (const ActivityBuffers::Filled& buffer : buffers_.filled()) {
    CUpti_Activity* record = nullptr;
    while (functions_.next_record(buffer.memory, buffer.valid, &record) == CUPTI_SUCCESS) {
      if (std::optional<CuptiActivity> activity = decode(*record, functions_))
        activities.push_back(std::move(*activity));
    }
  }
  return activities;
}

std::size_t Cupti::stop(Timeline& timeline) {
  assert(is_running_);
  const ClockPair stopped = read_clocks();
  check(end(), "cuptiActivityFlushAll");
  std::size_t dropped = 0;
  check(functions_.dropped_records(nullptr, 0, &dropped), "cuptiActivityGetNumDroppedRecords");
  const std::size_t untimed = add_spans(decode_all(), ClockConversion(started_, stopped), timeline);
  buffers_.clear();
  detach();
  return dropped + untimed;
}

ActivityTracer::ActivityTracer() : cupti_(std::make_unique<Cupti>()) {}
ActivityTracer::ActivityTracer(std::unique_ptr<Cupti> cupti) : cupti_(std::move(cupti)) {}
ActivityTracer::~ActivityTracer() = default;

void ActivityTracer::start() {
  cupti_->start();
}
std::size_t ActivityTracer::stop(Timeline& timeline) {
  return cupti_->stop(timeline);
}

ActivityBuffers::ActivityBuffers(std::size_t count, std::size_t bytes) : bytes_(bytes) {
  free_.reserve(count);
  filled_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    memory_.push_back(std::make_unique<std::uint64_t[]>(bytes / sizeof(std::uint64_t)));
    free_.push_back(reinterpret_cast<std::uint8_t*>(memory_.back().get()));
  }
}

std::uint8_t* ActivityBuffers::take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return nullptr;
  std::uint8_t* const buffer = free_.back();
  free_.pop_back();
  return buffer;
}

void ActivityBuffers::give_back(std::uint8_t* buffer, std::size_t valid) {
  const std::lock_guard lock(mutex_);
  if (valid == 0) {
    free_.push_back(buffer);
  } else {
    filled_.push_back({buffer, valid});
  }
}

std::vector<ActivityBuffers::Filled> ActivityBuffers::filled() const {
  const std::lock_guard lock(mutex_);
  return filled_;
}

void ActivityBuffers::clear() {
  const std::lock_guard lock(mutex_);
  for (const Filled& one : filled_) free_.push_back(one.memory);
  filled_.clear();
}

}  // namespace gpubench
