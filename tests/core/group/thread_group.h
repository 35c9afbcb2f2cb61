// A process group whose processes are threads of a test.
#pragma once
#include <barrier>
#include <mutex>
#include <string>
#include <vector>

#include "core/group/process_group.h"

namespace gpubench {

/// Processes that are threads here.
class Threads {
 public:
  explicit Threads(int size) : texts(static_cast<std::size_t>(size)), arrival(size) {}
  std::vector<std::string> texts;
  std::barrier<> arrival;
};

/// One of them.
class ThreadGroup final : public ProcessGroup {
 public:
  ThreadGroup(Threads& threads, int rank) : threads_(threads), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(threads_.texts.size()); }
  std::string name_of(int rank) const override { return "worker-" + std::to_string(rank); }
  void barrier() override { threads_.arrival.arrive_and_wait(); }
  void leave() override { barrier(); }
  std::vector<std::string> all_gather(const std::string& text) override {
    threads_.texts[static_cast<std::size_t>(rank_)] = text;
    barrier();
    std::vector<std::string> all = threads_.texts;
    barrier();  // before the next is written
    return all;
  }
  void all_gather(std::span<const std::int64_t>, std::span<std::int64_t>) override {}
  std::string broadcast(const std::string& text, int) override { return text; }
  int local_size() const override { return size(); }
  int local_rank() const override { return rank_; }
  int sharing_processors() const override { return size(); }
  std::vector<int> neighbours() const override { return {}; }
  std::vector<std::string> conclude(const std::string& text, const std::string&) override { return all_gather(text); }
  std::string lost() const override {
    const std::lock_guard lock(mutex_);
    return failure_;
  }
  void on_end(std::function<void()>) override {}
  void set_step(std::int64_t) noexcept override {}
  int exit_status() const override {
    const std::lock_guard lock(mutex_);
    return exit_status_;
  }
  void fail(const std::string& reason, int exit_status) noexcept override {
    const std::lock_guard lock(mutex_);
    if (!failure_.empty()) return;
    failure_ = reason;
    exit_status_ = exit_status;
  }

 private:
  Threads& threads_;
  int rank_;
  mutable std::mutex mutex_;
  std::string failure_;
  int exit_status_ = failed_exit_status;
};

}  // namespace gpubench
