// Processes that no launcher has started together: they meet where GPUBENCH_NCCL_ID says, and then talk through rank 0.
// For GPUs, whose tensors go over NCCL; CPU devices of many processes need MPI.
#include <algorithm>
#include <array>
#include <deque>
#include <fmt/format.h>
#include <optional>
#include <poll.h>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/group/join.h"
#include "core/group/line_fields.h"
#include "core/group/watched_group.h"

namespace gpubench {
namespace {

constexpr int glance_ms = 50;

/// The text of one rank in a round, or rank 0's answer with the texts of all.
struct RoundMessage {
  /// Part of the script, kind, and number of the round: messages of rounds that a rank has skipped are older than the
  /// expected one.
  std::array<std::int64_t, 3> place{};
  std::vector<std::string> texts;
};

std::string text_of(const RoundMessage& message) {
  return to_line(message.place[0], message.place[1], message.place[2], message.texts);
}

RoundMessage round_message(const std::string& line) {
  RoundMessage message;
  LineFields(line).read(message.place[0], message.place[1], message.place[2], message.texts);
  return message;
}

class JoinedGroup final : public WatchedGroup {
 public:
  JoinedGroup(const Rendezvous& rendezvous, const JoinOptions& options);

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void barrier() override { static_cast<void>(gather_texts(gathering, {})); }
  using WatchedGroup::all_gather;
  void all_gather(std::span<const std::int64_t> mine, std::span<std::int64_t> all) override;

 private:
  void connect(const std::vector<std::string>& hosts, int port, LineListener* door, Seconds patience);
  bool welcome(LineSocket& caller);
  std::vector<std::string> gather_texts(FirstChannels kind, const std::string& text) override;
  void begin_part() override { rounds_ = 0; }
  /// The message of `peer` at `place`.
  RoundMessage take(std::size_t peer, const std::array<std::int64_t, 3>& place, FirstChannels kind);
  void throw_if_over(FirstChannels kind) const;

  int rank_, size_;
  std::int64_t rounds_ = 0;
  std::vector<LineSocket> peers_;  // of rank 0: all by rank; of others: rank 0
  std::vector<std::deque<RoundMessage>> inbox_;
};

JoinedGroup::JoinedGroup(const Rendezvous& rendezvous, const JoinOptions& options)
    : rank_(rendezvous.rank), size_(rendezvous.size) {
  std::unique_ptr<LineListener> door, watched;
  std::string watch_address;
  int port = 0;
  if (rank_ == 0) {
    door = std::make_unique<LineListener>(0);
    watched = std::make_unique<LineListener>(0);
    watch_address = PeerWatch::address(*watched);
    port = door->port();
  }
  const std::string mine = to_line(introduction(options), watch_address, own_addresses(), port);
  std::vector<std::string> introductions, hosts;
  for (const std::string& text : rendezvous.meet(mine, options.peer_timeout)) {
    std::vector<std::string> addresses;
    std::string watch;
    int listening = 0;
    LineFields(text).read(introductions.emplace_back(), watch, addresses, listening);
    if (introductions.size() > 1) continue;  // rank 0 alone is connected to
    watch_address = watch, hosts = addresses, port = listening;
  }
  WatchedGroup::meet(introductions);
  connect(hosts, port, door.get(), options.peer_timeout);
  PeerWatch::take_termination();
  start_watch(std::move(watched), watch_address, options);
  barrier();
}

void JoinedGroup::connect(const std::vector<std::string>& hosts, int port, LineListener* door, Seconds patience) {
  inbox_.resize(static_cast<std::size_t>(size_));
  if (rank_ != 0) {
    peers_.push_back(LineSocket::connect(hosts, port, patience));
    peers_[0].send(to_line(rank_));
    return;
  }
  for (int rank = 0; rank < size_; ++rank) peers_.emplace_back(-1);
  std::vector<LineSocket> callers;
  const Stopwatch since;
  for (int missing = size_ - 1; missing > 0;) {
    check_interrupt();
    if (since.elapsed() > patience) throw Error(fmt::format("{} of {} processes did not connect", missing, size_));
    pollfd waiting{door->descriptor(), POLLIN, 0};
    static_cast<void>(::poll(&waiting, 1, callers.empty() ? glance_ms : 1));
    if (std::optional<LineSocket> caller = door->accept()) callers.push_back(std::move(*caller));
    for (LineSocket& caller : callers) {
      if (caller.is_open() && welcome(caller)) --missing;
    }
    std::erase_if(callers, [](const LineSocket& caller) { return !caller.is_open(); });
  }
}

/// Whether the caller has said which rank it is; the connection of any other process is closed.
bool JoinedGroup::welcome(LineSocket& caller) {
  const std::vector<std::string> lines = caller.receive();
  if (lines.empty()) return false;
  int rank = 0;
  try {
    LineFields(lines[0]).read(rank);
  } catch (const Error&) {
    rank = 0;
  }
  if (rank < 1 || rank >= size_ || peers_[static_cast<std::size_t>(rank)].is_open()) {
    caller.close();
    return false;
  }
  peers_[static_cast<std::size_t>(rank)] = std::move(caller);
  // It may have gone on to the first round already.
  for (std::size_t i = 1; i < lines.size(); ++i)
    inbox_[static_cast<std::size_t>(rank)].push_back(round_message(lines[i]));
  return true;
}

void JoinedGroup::throw_if_over(FirstChannels kind) const {
  if (watch()->lost().is_set()) watch()->lost().raise();
  const WaitEnd* const end = end_of(kind);
  if (end != nullptr && end->is_set()) end->raise();
}

RoundMessage JoinedGroup::take(std::size_t peer, const std::array<std::int64_t, 3>& place, FirstChannels kind) {
  std::deque<RoundMessage>& inbox = inbox_[peer];
  for (;;) {
    while (!inbox.empty() && inbox.front().place < place) inbox.pop_front();
    // A peer that is ahead has left this round out: the watch is about to say so.
    if (!inbox.empty() && inbox.front().place == place) {
      RoundMessage message = std::move(inbox.front());
      inbox.pop_front();
      return message;
    }
    throw_if_over(kind);
    check_interrupt();
    for (LineSocket& each : peers_) {
      if (each.is_open() && each.wants_to_write()) each.flush();
    }
    // A connection that is closed says nothing more; the watch says why.
    pollfd waiting{peers_[peer].descriptor(), POLLIN, 0};
    static_cast<void>(::poll(&waiting, 1, glance_ms));
    if (!peers_[peer].is_open()) continue;
    for (const std::string& line : peers_[peer].receive()) inbox.push_back(round_message(line));
  }
}

std::vector<std::string> JoinedGroup::gather_texts(FirstChannels kind, const std::string& text) {
  const PeerWatch::Waiting waiting(*watch());
  throw_if_over(kind);
  RoundMessage mine{.place = {part(), kind, kind == gathering ? rounds_++ : 0}, .texts = {text}};
  if (rank_ != 0) {
    peers_[0].send(text_of(mine));
    return take(0, mine.place, kind).texts;
  }
  for (std::size_t rank = 1; rank < peers_.size(); ++rank)
    mine.texts.push_back(std::move(take(rank, mine.place, kind).texts.at(0)));
  const std::string answer = text_of(mine);
  for (std::size_t rank = 1; rank < peers_.size(); ++rank) {
    peers_[rank].send(answer);
    while (peers_[rank].is_open() && peers_[rank].wants_to_write()) {
      throw_if_over(kind);
      peers_[rank].flush();
    }
  }
  return mine.texts;
}

void JoinedGroup::all_gather(std::span<const std::int64_t> mine, std::span<std::int64_t> all) {
  auto to = all.begin();
  for (const std::string& numbers : gather_texts(gathering, to_line(std::vector(mine.begin(), mine.end())))) {
    std::vector<std::int64_t> theirs;
    LineFields(numbers).read(theirs);
    to = std::ranges::copy(theirs, to).out;
  }
}

}  // namespace

std::unique_ptr<ProcessGroup> join_by_rendezvous(const Rendezvous& rendezvous, const JoinOptions& options) {
  return std::make_unique<JoinedGroup>(rendezvous, options);
}

}  // namespace gpubench
