#include "core/group/mpi/mpi_group.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>

#include "core/base/error.h"
#include "core/group/join.h"
#include "core/group/watch/peer_watch.h"

namespace gpubench {
namespace {

/// Channels of one part of the script, between two conclude(): a rank that leaves a part early may have opened fewer.
constexpr int channels_per_part = 4096;
enum FirstChannels : int { concluding = 0, gathering = 1, leaving = 2, first_communicator = 3 };

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// The processors that this process may run on, as text to compare.
std::string processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::string text;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return text;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) text += fmt::format("{} ", cpu);
  }
  return text;
}

int chosen_port() {
  const char* const text = std::getenv("GPUBENCH_PORT");
  if (text == nullptr || *text == '\0') return 0;
  char* end = nullptr;
  const long port = std::strtol(text, &end, 10);
  if (*end == '\0' && port >= 1 && port <= 65535) return static_cast<int>(port);
  throw Error(fmt::format("GPUBENCH_PORT is '{}'; a port is a number from 1 to 65535", text));
}

class LaunchedGroup final : public MpiGroup {
 public:
  LaunchedGroup(const Launch& launch, const JoinOptions& options);
  /// While MPI ends, which takes all processes, the watch goes on.
  ~LaunchedGroup() override {
    if (watch_ && watch_->lost().is_set()) watch_->wait_for_first();
    link_.finish();
  }
  LaunchedGroup(const LaunchedGroup&) = delete;
  LaunchedGroup& operator=(const LaunchedGroup&) = delete;

  int rank() const override { return link_.rank(); }
  int size() const override { return link_.size(); }
  std::string name_of(int rank) const override { return names_.at(static_cast<std::size_t>(rank)); }
  int local_size() const override { return local_size_; }
  int local_rank() const override { return local_rank_; }
  int sharing_processors() const override { return sharing_; }

  void barrier() override {
    std::vector<std::int64_t> all(static_cast<std::size_t>(size()));
    const std::int64_t mine = 0;
    gather_numbers(gathering, {&mine, 1}, all);
  }
  std::vector<std::string> all_gather(const std::string& text) override { return gather_texts(gathering, text); }
  void all_gather(std::span<const std::int64_t> mine, std::span<std::int64_t> all) override {
    gather_numbers(gathering, mine, all);
  }
  std::string broadcast(const std::string& text, int root) override;
  MpiLink& link() override { return link_; }
  int open_channel() override;
  std::vector<std::string> conclude(const std::string& text, const std::string& failure) override;

  void leave() override {
    watch_->set_leaving();
    gather_texts(leaving, {});
  }

  void set_step(std::int64_t step) noexcept override { watch_->set_step(step); }
  void fail(const std::string& reason) noexcept override { watch_->fail(reason); }
  std::string lost() const override { return watch_->lost().reason(); }
  void on_end(std::function<void()> stop) override { watch_->on_end(std::move(stop)); }

 private:
  int channel(int kind) const { return kind + part_ * channels_per_part; }
  MpiTransfers transfers(int kind) { return {link_, channel(kind), kind == gathering ? end_.get() : nullptr}; }
  void gather_numbers(int kind, std::span<const std::int64_t> mine, std::span<std::int64_t> all);
  std::vector<std::string> gather_texts(int kind, const std::string& text);
  std::unique_ptr<LineListener> listen(std::string& address);
  void check_alike(const std::vector<std::string>& texts, const char* what) const;
  void find_neighbours();

  MpiLink link_;
  std::vector<std::string> names_;
  int part_ = 0, next_channel_ = first_communicator;
  std::int64_t exchanges_ = 0;
  int local_size_ = 1, local_rank_ = 0, sharing_ = 1;
  std::shared_ptr<WaitEnd> end_;  // of gathering in this part
  std::unique_ptr<PeerWatch> watch_;
};

LaunchedGroup::LaunchedGroup(const Launch& launch, const JoinOptions& options) {
  if (link_.size() != launch.size) {
    throw Error(
        fmt::format("the launcher has started {} processes ({}), and Open MPI knows of {}: start them with Open "
                    "MPI's own mpirun, or with srun --mpi=pmix",
                    launch.size, launch.by, link_.size()));
  }
  for (const std::string& host_and_pid : all_gather(fmt::format("{}, pid {}", host_name(), getpid())))
    names_.push_back(fmt::format("process {} ({})", names_.size(), host_and_pid));
  check_alike(all_gather(options.program), "programs");
  check_alike(all_gather(options.task), "scripts or arguments");
  find_neighbours();
  std::string address;
  std::unique_ptr<LineListener> listener = listen(address);
  watch_ = std::make_unique<PeerWatch>(rank(), names_, std::move(listener), address,
                                       WatchLimits{.absence = options.peer_timeout});
  link_.set_watch(watch_.get());
  end_ = watch_->channel(channel(gathering));
  barrier();
}

/// Rank 0 listens; where it cannot, all say why.
std::unique_ptr<LineListener> LaunchedGroup::listen(std::string& address) {
  std::unique_ptr<LineListener> listener;
  std::string failure;
  if (rank() == 0) {
    try {
      listener = std::make_unique<LineListener>(chosen_port());
      address = PeerWatch::address(*listener);
    } catch (const Error& error) {
      failure = error.what();
    }
  }
  failure = broadcast(failure, 0);
  if (!failure.empty()) throw Error(failure);
  address = broadcast(address, 0);
  return listener;
}

void LaunchedGroup::check_alike(const std::vector<std::string>& texts, const char* what) const {
  for (std::size_t rank = 1; rank < texts.size(); ++rank) {
    if (texts[rank] == texts[0]) continue;
    throw Error(fmt::format("the processes of a run need the same {}: {} has {}, {} has {}", what, names_[0], texts[0],
                            names_[rank], texts[rank]));
  }
}

void LaunchedGroup::find_neighbours() {
  const std::string host = host_name(), own = host + "\n" + processors();
  const std::vector<std::string> all = all_gather(own);
  local_size_ = sharing_ = 0;
  for (int other = 0; other < size(); ++other) {
    const std::string& text = all[static_cast<std::size_t>(other)];
    if (text.substr(0, text.find('\n')) != host) continue;
    if (other == rank()) local_rank_ = local_size_;
    ++local_size_;
    if (text == own) ++sharing_;
  }
}

void LaunchedGroup::gather_numbers(int kind, std::span<const std::int64_t> mine, std::span<std::int64_t> all) {
  MpiTransfers messages = transfers(kind);
  for (int other = 0; other < size(); ++other) {
    const auto place = all.subspan(static_cast<std::size_t>(other) * mine.size(), mine.size());
    if (other == rank())
      std::ranges::copy(mine, place.begin());
    else
      messages.receive(other, place.data(), place.size_bytes());
  }
  for (int other = 0; other < size(); ++other) {
    if (other != rank()) messages.send(other, mine.data(), mine.size_bytes());
  }
  messages.wait(MpiTransfers::Patience::for_others, ++exchanges_);
}

std::vector<std::string> LaunchedGroup::gather_texts(int kind, const std::string& text) {
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(size()));
  const auto own = static_cast<std::int64_t>(text.size());
  gather_numbers(kind, {&own, 1}, lengths);
  std::vector<std::string> texts;
  for (const std::int64_t length : lengths) texts.emplace_back(static_cast<std::size_t>(length), '\0');
  texts[static_cast<std::size_t>(rank())] = text;
  MpiTransfers messages = transfers(kind);
  for (int other = 0; other < size(); ++other) {
    std::string& place = texts[static_cast<std::size_t>(other)];
    if (other != rank()) messages.receive(other, place.data(), place.size());
  }
  for (int other = 0; other < size(); ++other) {
    if (other != rank()) messages.send(other, text.data(), text.size());
  }
  messages.wait(MpiTransfers::Patience::for_others, ++exchanges_);
  return texts;
}

std::string LaunchedGroup::broadcast(const std::string& text, int root) {
  return all_gather(rank() == root ? text : std::string())[static_cast<std::size_t>(root)];
}

int LaunchedGroup::open_channel() {
  if (next_channel_ == channels_per_part) throw Error("too many communicators in one part of a script");
  return channel(next_channel_++);
}

std::vector<std::string> LaunchedGroup::conclude(const std::string& text, const std::string& failure) {
  if (!failure.empty()) {
    watch_->abort(channel(gathering), channel(channels_per_part), fmt::format("{}: {}", name_of(rank()), failure));
  }
  std::vector<std::string> texts = gather_texts(concluding, text);
  ++part_;
  next_channel_ = first_communicator;
  watch_->forget_channels_below(channel(0));
  end_ = watch_->channel(channel(gathering));
  return texts;
}

}  // namespace

std::unique_ptr<ProcessGroup> join_by_mpi(const Launch& launch, const JoinOptions& options) {
  PeerWatch::take_termination();
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // by a launcher that dies itself, too
  return std::make_unique<LaunchedGroup>(launch, options);
}

}  // namespace gpubench
