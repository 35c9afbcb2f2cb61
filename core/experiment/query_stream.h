// How queries come to a service that infers: one after the other, from several clients at once, or as fast as it takes
// them. MLPerf's load generator calls the first single stream and the last offline.
#pragma once
#include <memory>
#include <string_view>

#include "core/base/clock.h"
#include "core/experiment/inference_service.h"

namespace gpubench {

enum class InferenceMode : std::uint8_t { single_stream, offline };
std::string_view to_string(InferenceMode mode);
/// Throws Error listing both names.
InferenceMode parse_inference_mode(std::string_view name);

/// From the moment a client asked, in host memory, until the answer was in host memory.
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

/// single_stream with one client: the caller's thread asks when the query before has been answered. With more: threads
/// that each ask when their own query before has been answered; queries wait in a queue for the caller's thread, which
/// serves them in the order in which they came, and the wait is part of their latency. offline: batches are queued back
/// to back, and an answer's time counts from the answer before it. `service` outlives the stream.
std::unique_ptr<QueryStream> make_query_stream(InferenceService& service, InferenceMode mode, int clients);

}  // namespace gpubench
