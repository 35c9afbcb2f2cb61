// A request to stop that waits, for what a run calls at its end: its points have been stopped already.
#pragma once

namespace gpubench {

/// While it lives, a request of the user stops nothing, and interrupt_requested() is false; interrupt_signal() still
/// names its signal. Afterwards the request is back.
class RequestSetAside {
 public:
  RequestSetAside() noexcept;
  ~RequestSetAside();
  RequestSetAside(const RequestSetAside&) = delete;
  RequestSetAside& operator=(const RequestSetAside&) = delete;
  /// Whether there was one.
  explicit operator bool() const noexcept { return was_requested_; }

 private:
  const bool was_requested_;
};

}  // namespace gpubench
