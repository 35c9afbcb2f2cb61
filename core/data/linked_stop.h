// The stop source of a stage with threads: the stage opens its sources with this token and requests the stop when it is
// destroyed. A stop requested by the stage's own consumer is forwarded to the sources.
#pragma once
#include <stop_token>

#include "core/data/dataset.h"

namespace gpubench {

class LinkedStop {
 public:
  explicit LinkedStop(const std::stop_token& outer) : link_(outer, Forward{source_}) {}

  void request() { source_.request_stop(); }
  std::stop_token token() const { return source_.get_token(); }
  /// `options` with this token, for the stage's sources.
  CursorOptions with_stop(CursorOptions options) const {
    options.stop = token();
    return options;
  }

 private:
  struct Forward {
    std::stop_source source;
    void operator()() { source.request_stop(); }
  };
  std::stop_source source_;
  std::stop_callback<Forward> link_;
};

}  // namespace gpubench
