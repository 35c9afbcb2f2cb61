#include "tests/support/cuda_on_cpu/block.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <ucontext.h>
#include <utility>
#include <vector>

#include "tests/support/cuda_on_cpu/access.h"
#include "tests/support/cuda_on_cpu/function_name.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/cuda_on_cpu/races.h"
#include "tests/support/cuda_on_cpu/stream_state.h"

// What tells the address sanitizer of other stacks; null without it.
// NOLINTBEGIN(readability-identifier-naming): the sanitizer's names
extern "C" {
void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom, std::size_t size) __attribute__((weak));
void __sanitizer_finish_switch_fiber(void* fake_stack, const void** bottom, std::size_t* size) __attribute__((weak));
}
// NOLINTEND(readability-identifier-naming)

namespace gpubench::cuda_on_cpu {

Now now;

namespace {

constexpr std::size_t stack_bytes = std::size_t{128} << 10;
constexpr unsigned warp = warp_lanes;

constexpr unsigned no_barrier = ~0U;

/// Where the threads of a block wait for each other.
struct Barrier {
  unsigned expected = 0, arrived = 0, passed = 0;

  void release_if_all() {
    if (expected == 0 || arrived < expected) return;
    arrived = 0;
    ++passed;
    order_block();
  }
};

struct Fibre {
  ucontext_t context{};
  std::unique_ptr<std::byte[]> stack = std::make_unique<std::byte[]>(stack_bytes);
  void* fake_stack = nullptr;
  uint3 thread{};
  bool done = false;
  unsigned barrier = no_barrier;  // barriers that the block had passed when the thread came to the next one
};

/// The block that runs: its fibres are used again by the next.
class Block {
 public:
  void run(const Grid& grid, const Call& call) {
    const unsigned threads = grid.threads.x * grid.threads.y * grid.threads.z;
    while (fibres_.size() < threads) fibres_.push_back(std::make_unique<Fibre>());
    call_ = &call;
    watched_ = checks().any();
    begin_shared_memory();
    block_ = {threads, 0, 0};
    warps_.resize((threads + warp - 1) / warp);
    for (unsigned w = 0; w < warps_.size(); ++w)
      warps_[w].start(w, static_cast<int>(std::min(warp, threads - w * warp)));
    for (unsigned t = 0; t < threads; ++t) {
      Fibre& fibre = *fibres_[t];
      fibre.thread = thread_at(t);
      fibre.done = false;
      fibre.barrier = no_barrier;
      prepare(fibre);
    }
    for (unsigned left = threads; left > 0;) {
      const std::size_t before = progress_;
      for (unsigned place = 0; place < threads; ++place) {
        current_ = machine().last_thread_first ? threads - 1 - place : place;
        Fibre& fibre = *fibres_[current_];
        if (fibre.done || waits(current_)) continue;
        now.thread = fibre.thread;
        enter(fibre);
        if (!fibre.done) continue;
        --left;
        ++progress_;
        leave_barriers();
      }
      if (progress_ == before) fail_stuck();
    }
  }

  void wait() {
    Fibre& fibre = *fibres_[current_];
    fibre.barrier = block_.passed;
    ++block_.arrived;
    ++progress_;
    block_.release_if_all();
    if (block_.passed == fibre.barrier) yield();
    fibre.barrier = no_barrier;
  }
  const Warp::Value& meet(const Meeting& meeting, const Warp::Value& given) {
    ++progress_;
    of_warp().come(lane(), meeting, given);
    if (of_warp().waits(lane())) yield();
    return of_warp().taken(lane());
  }
  int lane() const { return static_cast<int>(current_ % warp); }
  const Call* call() const { return call_; }
  void end() { call_ = nullptr; }
  unsigned thread() const { return current_; }
  bool is_on_stack(const void* at) const {
    const auto stack = reinterpret_cast<std::uintptr_t>(fibres_[current_]->stack.get());
    return reinterpret_cast<std::uintptr_t>(at) - stack < stack_bytes;
  }

 private:
  static void prepare(Fibre& fibre) {
    ::getcontext(&fibre.context);
    fibre.context.uc_stack.ss_sp = fibre.stack.get();
    fibre.context.uc_stack.ss_size = stack_bytes;
    fibre.context.uc_link = nullptr;
    fibre.fake_stack = nullptr;
    ::makecontext(&fibre.context, &Block::start, 0);
  }

  static void start();

  void enter(Fibre& fibre) {
    if (__sanitizer_start_switch_fiber != nullptr) {
      __sanitizer_start_switch_fiber(&fake_stack_, fibre.stack.get(), stack_bytes);
    }
    {
      const Watching watched(watched_);
      ::swapcontext(&scheduler_, &fibre.context);
    }
    if (__sanitizer_finish_switch_fiber != nullptr) __sanitizer_finish_switch_fiber(fake_stack_, nullptr, nullptr);
  }

  void arrived_on_stack(void* fake_stack) {
    if (__sanitizer_finish_switch_fiber != nullptr) {
      __sanitizer_finish_switch_fiber(fake_stack, &scheduler_stack_, &scheduler_stack_bytes_);
    }
  }

  void yield() {
    Fibre& fibre = *fibres_[current_];
    if (__sanitizer_start_switch_fiber != nullptr) {
      __sanitizer_start_switch_fiber(fibre.done ? nullptr : &fibre.fake_stack, scheduler_stack_,
                                     scheduler_stack_bytes_);
    }
    ::swapcontext(&fibre.context, &scheduler_);
    arrived_on_stack(fibre.fake_stack);
  }

  bool waits(unsigned thread) const {
    return fibres_[thread]->barrier == block_.passed || warps_[thread / warp].waits(static_cast<int>(thread % warp));
  }

  void leave_barriers() {
    --block_.expected;
    block_.release_if_all();
    of_warp().leave(lane());
  }

  [[noreturn]] void fail_stuck() const {
    for (const Warp& each : warps_) {
      if (const std::string why = each.waiting(); !why.empty()) fail_work(why);
    }
    fail_work("a barrier that not all threads reach");
  }

  Warp& of_warp() { return warps_[current_ / warp]; }

  std::vector<std::unique_ptr<Fibre>> fibres_;
  std::vector<Warp> warps_;
  Barrier block_;
  const Call* call_ = nullptr;
  bool watched_ = false;
  unsigned current_ = 0;
  std::size_t progress_ = 0;  // threads that ended or came to a barrier or a meeting
  ucontext_t scheduler_{};
  void* fake_stack_ = nullptr;
  const void* scheduler_stack_ = nullptr;
  std::size_t scheduler_stack_bytes_ = 0;
};

Block& running() {
  static auto& block = *new Block;  // streams may run until the program's end
  return block;
}

void Block::start() {
  Block& block = running();
  block.arrived_on_stack(nullptr);
  block.call_->run(block.call_->arguments);
  block.fibres_[block.current_]->done = true;
  block.yield();
}

}  // namespace

void check_alignment(const void* address, std::size_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(address) % bytes == 0) return;
  std::array<char, 64> why{};
  std::snprintf(why.data(), why.size(), "misaligned address %p of %zu bytes", address, bytes);
  fail_work(why.data());
}

namespace {

/// A legal order of a grid's blocks: without a seed the last comes first.
class BlockOrder {
 public:
  explicit BlockOrder(std::uint64_t blocks) : blocks_(blocks), first_(blocks - 1), step_(blocks - 1) {
    std::minstd_rand* const random = chance();
    if (random == nullptr) return;
    first_ = (*random)() % blocks_;
    do step_ = (*random)() % blocks_ + 1;
    while (std::gcd(step_, blocks_) != 1);
  }
  std::uint64_t operator[](std::uint64_t place) const { return (first_ + place * step_) % blocks_; }

 private:
  std::uint64_t blocks_, first_, step_;
};

}  // namespace

void run_grid(const Grid& grid, const Call& call) {
  now.blocks = grid.blocks;
  now.threads = grid.threads;
  const Watching host(false);
  begin_launch();
  const auto& [x, y, z] = grid.blocks;
  const std::uint64_t blocks = std::uint64_t{x} * y * z;
  const BlockOrder order(blocks);
  for (std::uint64_t place = 0; place < blocks; ++place) {
    const std::uint64_t block = order[place];
    now.block = {static_cast<unsigned>(block % x), static_cast<unsigned>(block / x % y),
                 static_cast<unsigned>(block / x / y)};
    running().run(grid, call);
  }
  running().end();
}

const Call* running_kernel() {
  return running().call();
}
unsigned running_thread() {
  return running().thread();
}
uint3 thread_at(unsigned number) {
  const auto& [x, y, z] = now.threads;
  return {number % x, number / x % y, number / x / y};
}
bool is_on_stack(const void* at) {
  return running().is_on_stack(at);
}

void fail_work(std::string_view why) {
  const auto length = static_cast<int>(why.size());
  if (const Call* const call = running_kernel()) {
    const auto& [x, y, z] = now.block;
    std::fprintf(stderr, "CUDA on the CPU: kernel %s, block (%u, %u, %u), thread (%u, %u, %u): %.*s\n",
                 function_name(call->kernel).c_str(), x, y, z, now.thread.x, now.thread.y, now.thread.z, length,
                 why.data());
  } else {
    std::fprintf(stderr, "CUDA on the CPU: %.*s\n", length, why.data());
  }
  std::abort();
}

void wait_for_block() {
  running().wait();
}
Warp::Value meet(const Meeting& meeting, const Warp::Value& given) {
  return running().meet(meeting, given);
}
int lane() {
  return running().lane();
}

}  // namespace gpubench::cuda_on_cpu
