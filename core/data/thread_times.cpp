#include "core/data/thread_times.h"

#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <unistd.h>

#include "core/trace/pipeline_spans.h"

namespace gpubench {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

ThreadTimes times_of(pid_t id) {
  constexpr double per_nanosecond = 1e-9;
  const std::unique_ptr<std::FILE, CloseFile> file(
      std::fopen(fmt::format("/proc/self/task/{}/schedstat", id).c_str(), "re"));
  unsigned long long cpu = 0;
  unsigned long long ready = 0;
  if (!file || std::fscanf(file.get(), "%llu %llu", &cpu, &ready) != 2) return {};
  return {Seconds(static_cast<double>(cpu) * per_nanosecond), Seconds(static_cast<double>(ready) * per_nanosecond)};
}

}  // namespace

ThreadTimes times_of_this_thread() {
  return times_of(::gettid());
}

WatchedThread::WatchedThread(std::string name, std::function<void()> body)
    : shared_(std::make_shared<Shared>()), thread_([shared = shared_, name = std::move(name), body = std::move(body)] {
        shared->id.store(::gettid(), std::memory_order_release);
        name_pipeline_thread(fmt::format("{} (thread {})", name, ::gettid()));
        body();
        shared->last = times_of(shared->id.load(std::memory_order_relaxed));
        shared->ended.store(true, std::memory_order_release);
      }) {}

ThreadTimes WatchedThread::times() const {
  if (shared_->ended.load(std::memory_order_acquire)) return shared_->last;
  const pid_t id = shared_->id.load(std::memory_order_acquire);
  return id == 0 ? ThreadTimes{} : times_of(id);
}

}  // namespace gpubench
