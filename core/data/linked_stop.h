// How a stage with threads tells its sources that nobody waits for them any more: it opens them with the token of a
// LinkedStop, and a stop of whoever opened the stage reaches them too.
#pragma once
#include <stop_token>

#include "core/data/dataset.h"

namespace gpubench {

class LinkedStop {
 public:
  explicit LinkedStop(const std::stop_token& outer) : link_(outer, Forward{source_}) {}

  void request() { source_.request_stop(); }
  std::stop_token token() const { return source_.get_token(); }
  /// `options` as the stage hands them to its sources.
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
