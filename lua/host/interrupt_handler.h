// Ctrl-C, SIGTERM, SIGHUP and SIGXFSZ: the first ends whatever runs (a busy Lua loop by a debug hook, a step loop by
// the flag that it reads, anything else by the watchdog), a second Ctrl-C or SIGTERM kills the process. A point's
// deadline (SIGALRM) ends it by the same means.
#pragma once
#include <array>
#include <cstddef>
#include <memory>

namespace gpubench {
class Watchdog;
}

namespace gpubench::lua {

class Machine;

/// Takes these signals while it lives, but SIGHUP where the program was started to ignore it (nohup). Made on the
/// thread that runs the script; one at a time.
class InterruptHandler {
 public:
  explicit InterruptHandler(Watchdog& watchdog);
  ~InterruptHandler();
  /// From now on the first signal stops what this machine runs; without a machine it kills the process.
  void attach(Machine& machine);
  void detach();
  /// As Ctrl-C, for another thread: ends what the script is in. Nothing where no handler lives or one has been asked
  /// for.
  static void stop_script() noexcept;
  InterruptHandler(const InterruptHandler&) = delete;
  InterruptHandler& operator=(const InterruptHandler&) = delete;

 private:
  using SignalStack = std::array<std::byte, std::size_t{64} << 10>;
  std::unique_ptr<SignalStack> stack_ = std::make_unique<SignalStack>();
};

}  // namespace gpubench::lua
