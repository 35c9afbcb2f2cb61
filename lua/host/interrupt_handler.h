// Ctrl-C: the first ends whatever runs (a busy Lua loop by a debug hook, a step loop by the flag that it reads), the
// second kills the process. A point's deadline (SIGALRM) ends it by the same means.
#pragma once
#include <array>
#include <cstddef>
#include <memory>

namespace gpubench::lua {

class Machine;

/// Takes SIGINT and SIGALRM while it lives. Made on the thread that runs the script; one at a time.
class InterruptHandler {
 public:
  explicit InterruptHandler(Machine& machine);
  ~InterruptHandler();
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
