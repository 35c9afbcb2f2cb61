#include "lua/host/interrupt_handler.h"

#include <atomic>
#include <csignal>
#include <pthread.h>

#include "core/base/interrupt.h"
#include "lua/bind/entry.h"
#include "lua/bind/machine.h"

namespace gpubench::lua {
namespace {

// A signal handler has no other way to reach what it should stop.
std::atomic<Machine*> interrupted_machine{nullptr};
pthread_t script_thread;

void stop(lua_State*, lua_Debug*) {
  check_interrupt();
}

// Async-signal-safe, lua_sethook too when it is called on the thread that runs the state, as in lua.c. The hook stays,
// so that a script which catches the error is stopped at its next instruction.
void handle(int signal) {
  if (pthread_equal(pthread_self(), script_thread) == 0) {
    pthread_kill(script_thread, signal);
    return;
  }
  Machine* machine = interrupted_machine.load();
  if (signal == SIGALRM) {
    request_timeout();
    if (!timeout_requested()) return;
  } else if (!machine || interrupt_requested()) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  } else {
    request_interrupt();
  }
  if (machine) lua_sethook(machine->running(), hook_entry<&stop>, LUA_MASKCOUNT, 1);
}

}  // namespace

InterruptHandler::InterruptHandler(Machine& machine) {
  script_thread = pthread_self();
  interrupted_machine = &machine;
  // oneDNN's generated code keeps values below its stack pointer, beyond what a handler on the same stack spares: it
  // would go on with other ones.
  const stack_t stack{.ss_sp = stack_->data(), .ss_flags = 0, .ss_size = stack_->size()};
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = &handle;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGINT);
  sigaddset(&action.sa_mask, SIGALRM);
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGINT, &action, nullptr);
  action.sa_flags |= SA_RESTART;  // what a point is writing when its time is up is written whole
  sigaction(SIGALRM, &action, nullptr);
}

void InterruptHandler::stop_script() noexcept {
  if (interrupted_machine.load() != nullptr && !interrupt_requested()) pthread_kill(script_thread, SIGINT);
}

InterruptHandler::~InterruptHandler() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGALRM, SIG_IGN);
  interrupted_machine = nullptr;
  const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
  sigaltstack(&none, nullptr);
}

}  // namespace gpubench::lua
