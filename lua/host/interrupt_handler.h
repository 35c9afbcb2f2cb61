// Ctrl-C, SIGTERM, SIGHUP and SIGXFSZ: the first one ends what is running (a busy Lua loop by a debug hook, a step loop
// by its flag, anything else by the watchdog); a second Ctrl-C or SIGTERM, at least 0.2 s later, kills the process. A
// point's deadline (SIGALRM) uses the same mechanism.
#pragma once
#include <array>
#include <cstddef>
#include <memory>

namespace gpubench {
class Watchdog;
}

namespace gpubench::lua {

class Machine;

/// Handles these signals while it lives, except a SIGHUP that the program was started to ignore (nohup). Create it on
/// the script's thread; only one may exist.
class InterruptHandler {
 public:
  explicit InterruptHandler(Watchdog& watchdog);
  ~InterruptHandler();
  /// From now on the first signal stops what this machine runs; without a machine the signal kills the process.
  void attach(Machine& machine);
  void detach();
  /// The effect of Ctrl-C, from another thread. Does nothing if no handler exists or a stop was already requested.
  static void stop_script() noexcept;
  InterruptHandler(const InterruptHandler&) = delete;
  InterruptHandler& operator=(const InterruptHandler&) = delete;

 private:
  using SignalStack = std::array<std::byte, std::size_t{64} << 10>;
  std::unique_ptr<SignalStack> stack_ = std::make_unique<SignalStack>();
};

}  // namespace gpubench::lua
