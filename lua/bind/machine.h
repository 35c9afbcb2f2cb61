// One Lua state and the binding layer's data for it: the running coroutine, and the C++ exception that is passing
// through Lua code, so that it arrives with its own type. Found from any lua_State through its extra space.
#pragma once
#include <atomic>
#include <exception>
#include <lua.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace gpubench::lua {

/// An error that passes through Lua: in Lua, its text represents the exception.
struct PassingError {
  std::exception_ptr exception;
  std::string text;
  std::string traceback;
};

class Machine {
 public:
  explicit Machine(lua_State* main) : main_(main), running_(main) {}

  static Machine& of(lua_State* L) { return **static_cast<Machine**>(lua_getextraspace(L)); }
  /// Kept alive by references, which may outlive the Lua state.
  static std::shared_ptr<Machine> shared(lua_State* L) { return of(L).self_.lock(); }

  lua_State* main() const { return main_; }
  /// The coroutine that is running. A signal handler may read it.
  lua_State* running() const { return running_.load(std::memory_order_relaxed); }
  void set_running(lua_State* L) { running_.store(L, std::memory_order_relaxed); }
  bool is_open() const { return open_; }
  bool on_own_thread() const { return std::this_thread::get_id() == thread_; }

  /// Releases a registry reference, from any thread at any time.
  void release(int reference);
  /// Frees the references released by other threads.
  void free_released();

  /// Set when the script has called os.exit: from then on only its closing code runs.
  std::optional<int> exit_status;
  /// Raised in Lua, not yet received by C++.
  PassingError pending;
  /// The latest one that Lua code threw to C++; the program's main function prints it.
  PassingError delivered;

 private:
  friend class State;
  lua_State* main_;
  std::atomic<lua_State*> running_;
  std::thread::id thread_ = std::this_thread::get_id();
  std::weak_ptr<Machine> self_;
  bool open_ = true;
  std::mutex mutex_;
  std::vector<int> released_;
};

/// Owns a Lua state.
class State {
 public:
  State();
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  lua_State* get() const { return L_; }
  operator lua_State*() const { return L_; }

 private:
  lua_State* L_;
  std::shared_ptr<Machine> machine_;
};

/// The position "script.lua:12: " of the innermost frame outside the Lua library (library_prefix), or "".
std::string script_position(lua_State* L);
/// Chunk names of the Lua library start with this prefix, so that errors refer to the user's line.
inline constexpr const char* library_prefix = "=gpubench/";

}  // namespace gpubench::lua
