// One Lua state and the binding layer's data for it: the running coroutine, and the C++ exception that is passing
// through Lua code, so that it arrives with its own type. Found from any lua_State through its extra space.
#pragma once
#include <atomic>
#include <cassert>
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

/// Errors raised in Lua and not yet received by C++, the latest last. While one unwinds the stack, closing handlers may
/// raise and catch others.
class PassingErrors {
 public:
  /// Replaces an earlier one with the same text, which is how an error that Lua code raises again is known.
  void add(PassingError error);
  /// Null if none has this text.
  PassingError* find(const std::string& text);
  /// Removes the one with this text and those raised after it; one without an exception if none has this text.
  PassingError take(const std::string& text);

 private:
  std::vector<PassingError> errors_;
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
  bool is_open() const { return open_; }
  bool on_own_thread() const { return std::this_thread::get_id() == thread_; }

  /// Releases a registry reference, from any thread at any time.
  void release(int reference);
  /// Frees the references released by other threads.
  void free_released();

  /// Set when the script has called os.exit: from then on only its closing code runs.
  std::optional<int> exit_status;
  PassingErrors pending;
  /// The latest one that Lua code threw to C++; the program's main function prints it.
  PassingError delivered;

 private:
  friend class State;
  friend class Running;
  lua_State* main_;
  std::atomic<lua_State*> running_;
  std::thread::id thread_ = std::this_thread::get_id();
  std::weak_ptr<Machine> self_;
  bool open_ = true;
  std::mutex mutex_;
  std::vector<int> released_;
};

/// While it lives, this coroutine is the one that is running. Lives around each C++ function that Lua calls, and around
/// each switch to another coroutine. Builds with assertions check that what it surrounds has ended with the coroutine
/// that it began with.
class Running {
 public:
  explicit Running(lua_State* coroutine)
      : machine_(Machine::of(coroutine)), coroutine_(coroutine), before_(machine_.running()) {
    set(coroutine);
  }
  ~Running() {
    assert(machine_.running() == coroutine_);
    set(before_);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  void set(lua_State* L) { machine_.running_.store(L, std::memory_order_relaxed); }

  Machine& machine_;
  lua_State* const coroutine_;
  lua_State* const before_;
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

/// The coroutine checks for an interrupt before its next instruction, and before each as long as one is requested, so
/// that a script which catches the error does not go on. Async-signal-safe on the thread that runs the state, as in
/// lua.c.
void stop_soon(lua_State* L);

/// The position "script.lua:12: " of the innermost frame outside the Lua library (library_prefix), or "".
std::string script_position(lua_State* L);
/// Chunk names of the Lua library start with this prefix, so that errors refer to the user's line.
inline constexpr const char* library_prefix = "=gpubench/";

}  // namespace gpubench::lua
