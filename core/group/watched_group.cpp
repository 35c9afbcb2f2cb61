#include "core/group/watched_group.h"

#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sched.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/group/line_fields.h"

namespace gpubench {
namespace {

struct Introduction {
  std::string name, machine, processors, process_space;
  int process = 0;
  std::string program, task;
};

std::string own_host_name() {
  std::array<char, 256> name{};
  static_cast<void>(::gethostname(name.data(), name.size() - 1));
  return name.data();
}

/// The processors that this process may run on, as text to compare.
std::string own_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::string text;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return text;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) text += fmt::format("{} ", cpu);
  }
  return text;
}

/// Equal for processes that see each other under the same process ids: those of one container.
std::string own_process_space() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
}

void check_alike(const std::vector<std::string>& names, const std::vector<Introduction>& all,
                 std::string Introduction::*what, const char* called) {
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank].*what == all[0].*what) continue;
    throw Error(fmt::format("the processes of a run need the same {}: {} has {}, {} has {}", called, names[0],
                            all[0].*what, names[rank], all[rank].*what));
  }
}

}  // namespace

std::string machine_id() {
  // Containers of one machine may have equal or different names; the boot id is that of their machine.
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::string id;
  return boot >> id ? id : own_host_name();
}

std::string WatchedGroup::introduction(const JoinOptions& options) {
  return to_line(fmt::format("{}, pid {}", own_host_name(), ::getpid()), machine_id(), own_processors(),
                 own_process_space(), ::getpid(), options.program, options.task);
}

void WatchedGroup::meet(const std::vector<std::string>& introductions) {
  std::vector<Introduction> all;
  for (const std::string& line : introductions) {
    Introduction& one = all.emplace_back();
    LineFields(line).read(one.name, one.machine, one.processors, one.process_space, one.process, one.program, one.task);
    names_.push_back(fmt::format("process {} ({})", names_.size(), one.name));
  }
  check_alike(names_, all, &Introduction::program, "programs");
  check_alike(names_, all, &Introduction::task, "scripts or arguments");
  const Introduction& own = all[static_cast<std::size_t>(rank())];
  for (int other = 0; other < size(); ++other) {
    const Introduction& one = all[static_cast<std::size_t>(other)];
    if (one.machine != own.machine) continue;
    if (other == rank()) local_rank_ = local_size_;
    ++local_size_;
    if (one.processors != own.processors) continue;
    ++sharing_;
    if (other != rank() && one.process_space == own.process_space) neighbours_.push_back(one.process);
  }
}

void WatchedGroup::start_watch(std::unique_ptr<LineListener> listener, const std::string& address,
                               const JoinOptions& options) {
  watch_ = std::make_unique<PeerWatch>(rank(), names_, std::move(listener), address,
                                       WatchLimits{.absence = options.peer_timeout}, options.end_process);
  end_ = watch_->channel(channel(gathering));
}

std::vector<std::string> WatchedGroup::conclude(const std::string& text, const std::string& failure) {
  if (!failure.empty()) {
    watch_->abort(channel(gathering), channel(channels_per_part), fmt::format("{}: {}", name_of(rank()), failure));
  }
  std::vector<std::string> texts = gather_texts(concluding, text);
  ++part_;
  begin_part();
  watch_->forget_channels_below(channel(0));
  end_ = watch_->channel(channel(gathering));
  return texts;
}

void WatchedGroup::leave() {
  watch_->set_leaving();
  static_cast<void>(gather_texts(leaving, {}));
}

}  // namespace gpubench
