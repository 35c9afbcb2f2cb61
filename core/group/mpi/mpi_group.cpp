#include "core/group/mpi/mpi_group.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/prctl.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

int chosen_port() {
  const char* const text = std::getenv("GPUBENCH_PORT");
  if (text == nullptr || *text == '\0') return 0;
  char* end = nullptr;
  const long port = std::strtol(text, &end, 10);
  if (*end == '\0' && port >= 1 && port <= 65535) return static_cast<int>(port);
  throw Error(fmt::format("GPUBENCH_PORT is '{}'; a port is a number from 1 to 65535", text));
}

}  // namespace

MpiGroup::MpiGroup(const ProcessLaunch& launch, const JoinOptions& options) {
  if (link_.size() != launch.size) {
    throw Error(
        fmt::format("the launcher has started {} processes ({}), and Open MPI knows of {}: start them with Open "
                    "MPI's own mpirun, or with srun --mpi=pmix",
                    launch.size, launch.by, link_.size()));
  }
  meet(all_gather(introduction(options)));
  std::string address;
  std::unique_ptr<LineListener> listener = listen(address);
  start_watch(std::move(listener), address, options);
  link_.set_watch(watch());
  try {
    barrier();
  } catch (const PeerLost&) {
    // Another is through and has failed already. It is told as if it had failed later: by one process, when the script
    // is stopped.
    if (!watch()->lost().is_set()) throw;
  }
}

MpiGroup::~MpiGroup() {
  if (watch()->lost().is_set()) watch()->wait_for_first();
  link_.finish();
}

/// Rank 0 listens; where it cannot, all say why.
std::unique_ptr<LineListener> MpiGroup::listen(std::string& address) {
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

void MpiGroup::barrier() {
  std::vector<std::int64_t> all(static_cast<std::size_t>(size()));
  const std::int64_t mine = 0;
  gather_numbers(gathering, {&mine, 1}, all);
}

void MpiGroup::all_gather(std::span<const std::int64_t> mine, std::span<std::int64_t> all) {
  gather_numbers(gathering, mine, all);
}

void MpiGroup::gather_numbers(FirstChannels kind, std::span<const std::int64_t> mine, std::span<std::int64_t> all) {
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
  messages.wait(MpiTransfers::Patience::for_others);
}

std::vector<std::string> MpiGroup::gather_texts(FirstChannels kind, const std::string& text) {
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
  messages.wait(MpiTransfers::Patience::for_others);
  return texts;
}

int MpiGroup::open_channel() {
  if (next_channel_ == channels_per_part) throw Error("too many communicators in one part of a script");
  return channel(next_channel_++);
}

std::unique_ptr<ProcessGroup> join_by_mpi(const ProcessLaunch& launch, const JoinOptions& options) {
  PeerWatch::take_termination();
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // by a launcher that dies itself, too
  return std::make_unique<MpiGroup>(launch, options);
}

}  // namespace gpubench
