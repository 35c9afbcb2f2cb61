// Traces as PyTorch's profiler (Kineto) writes them, event by event, for tests of what is made of them.
#pragma once
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/results/record.h"
#include "core/traces/analysis.h"
#include "core/traces/chrome_trace.h"

namespace gpubench {

/// Writes Kineto's JSON; times are in microseconds.
class KinetoTrace {
 public:
  KinetoTrace& host(const std::string& category, const std::string& name, double begin, double length, int thread = 1,
                    int correlation = 0) {
    return add(category, name, begin, length, 10, thread,
               correlation == 0 ? "" : fmt::format(R"("correlation": {})", correlation));
  }
  KinetoTrace& device(const std::string& category, const std::string& name, double begin, double length,
                      int correlation) {
    return add(category, name, begin, length, 0, 7,
               fmt::format(R"("device": 0, "stream": 7, "correlation": {})", correlation));
  }
  /// A collective of a group of ranks.
  KinetoTrace& exchange(double begin, double length, int correlation, const std::string& group, int sequence) {
    host("cuda_runtime", "cudaLaunchKernel", begin - 10, 2, 1, correlation);
    return add("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", begin, length, 0, 9,
               fmt::format(R"("device": 0, "stream": 9, "correlation": {}, "Collective name": "allreduce", )"
                           R"("Process Group Name": "{}", "Process Group Ranks": "[{}]", "Seq": {})",
                           correlation, group, group, sequence));
  }
  /// A launch that takes 2 us and its kernel.
  KinetoTrace& kernel(double launch, double begin, double length, const std::string& name = "gemm", int thread = 1) {
    ++correlation_;
    host("cuda_runtime", "cudaLaunchKernel", launch, 2, thread, correlation_);
    return device("kernel", name, begin, length, correlation_);
  }
  ForeignTrace read() const {
    const std::string text = fmt::format(R"({{"schemaVersion": 1, "traceEvents": [{}]}})", events_);
    return std::move(
        read_chrome_trace(std::make_unique<ByteSpanSource>("t.json", std::as_bytes(std::span(text)))).front());
  }
  TraceAnalysis analysis(const std::string& mark = {}, int known_steps = 0) const {
    return analyse(read(), {.mark = mark, .known_steps = known_steps});
  }

 private:
  KinetoTrace& add(const std::string& category, const std::string& name, double begin, double length, int process,
                   int thread, const std::string& args) {
    events_ += fmt::format(R"({}{{"ph": "X", "cat": "{}", "name": "{}", "ts": {}, "dur": {}, "pid": {}, "tid": {}, )"
                           R"("args": {{{}}}}})",
                           events_.empty() ? "" : ",", category, name, begin, length, process, thread, args);
    return *this;
  }
  std::string events_;
  int correlation_ = 0;
};

/// Thirty kernels of 1 ms, each launched 10 us before it begins: enough to be judged.
inline KinetoTrace busy_trace() {
  KinetoTrace trace;
  for (int i = 0; i < 30; ++i) trace.kernel(1000 * i, 1000 * i + 10, 990);
  return trace;
}

/// Six steps of ten kernels; a loader takes `loading` us of each.
inline KinetoTrace training_trace(double loading, const char* optimizer = "SGD") {
  KinetoTrace trace;
  for (int i = 0; i < 8; ++i) {
    const double step = (10'000 + loading) * i;
    trace.host("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", step, loading);
    for (int k = 0; k < 9; ++k) trace.kernel(step + loading + 1000 * k, step + loading + 1000 * k + 10, 990);
    trace.host("user_annotation", fmt::format("Optimizer.step#{}.step", optimizer), step + loading + 9500, 400);
  }
  return trace;
}

inline double share_of(const Record& row, std::string_view column) {
  return number_in(row.get(column)).value_or(NAN);
}

}  // namespace gpubench
