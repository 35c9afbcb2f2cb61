// How queries arrive at an inference service: one after the other, from several clients at once, or as fast as the
// service takes them. MLPerf's load generator calls the first "single stream" and the last "offline".
#pragma once
#include <memory>
#include <string_view>

#include "core/base/clock.h"
#include "core/experiment/inference/inference_service.h"

namespace gpubench {

enum class InferenceMode : std::uint8_t { single_stream, offline };
std::string_view to_string(InferenceMode mode);
/// Throws Error listing both names.
InferenceMode parse_inference_mode(std::string_view name);

/// From the client's request, in host memory, until the answer is in host memory.
struct AnsweredQuery {
  Clock::time_point asked, answered;
  Seconds latency() const { return answered - asked; }
};

class QueryStream {
 public:
  virtual ~QueryStream() = default;
  /// Serves until one more query is answered. Throws Interrupted.
  virtual AnsweredQuery next() = 0;
};

/// single_stream with one client: the caller's thread sends a query when the previous one is answered. With more
/// clients: each is a thread that sends a query when its own previous one is answered; the caller's thread serves the
/// queue in order, and the time in the queue is part of the latency. offline: batches are queued back to back, and an
/// answer's time counts from the previous answer. `service` must outlive the stream.
std::unique_ptr<QueryStream> make_query_stream(InferenceService& service, InferenceMode mode, int clients);

}  // namespace gpubench
