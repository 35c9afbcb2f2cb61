#include "core/group/joined_group.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <poll.h>
#include <sstream>
#include <unistd.h>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/group/hex.h"
#include "core/group/watch/line_socket.h"
#include "core/group/watch/peer_watch.h"

namespace gpubench::nccl {
namespace {

using nlohmann::json;

constexpr int glance_ms = 50;
/// The watch's channels: gathering of each part of the script. Only its end can be left out.
constexpr int channels_per_part = 2;
enum Kind : int { gathering = 0, concluding = 1, leaving = 2 };

std::string host_name() {
  std::array<char, 256> name{};
  static_cast<void>(::gethostname(name.data(), name.size() - 1));
  return name.data();
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

class JoinedGroup final : public ProcessGroup {
 public:
  JoinedGroup(const Rendezvous& rendezvous, const JoinOptions& options);

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string name_of(int rank) const override { return names_.at(static_cast<std::size_t>(rank)); }
  int local_size() const override { return local_size_; }
  int local_rank() const override { return local_rank_; }
  int sharing_processors() const override { return local_size_; }

  void barrier() override { static_cast<void>(round(gathering, {})); }
  std::vector<std::string> all_gather(const std::string& text) override { return round(gathering, text); }
  void all_gather(std::span<const std::int64_t> mine, std::span<std::int64_t> all) override;
  std::string broadcast(const std::string& text, int root) override {
    return round(gathering, rank_ == root ? text : std::string())[static_cast<std::size_t>(root)];
  }
  std::vector<std::string> conclude(const std::string& text, const std::string& failure) override;

  void leave() override {
    watch_->set_leaving();
    static_cast<void>(round(leaving, {}));
  }

  void set_step(std::int64_t step) noexcept override { watch_->set_step(step); }
  void fail(const std::string& reason) noexcept override { watch_->fail(reason); }
  std::string lost() const override { return watch_->lost().reason(); }
  void on_end(std::function<void()> stop) override { watch_->on_end(std::move(stop)); }

 private:
  /// Where in the order of rounds a message belongs; what a rank left out is older than what is waited for.
  using Place = std::array<std::int64_t, 3>;

  void check_alike(const std::vector<json>& all, const char* what, const char* called) const;
  void connect(const json& leader, LineListener* door, Seconds patience);
  int channel() const { return part_ * channels_per_part; }
  /// The texts of all ranks. Throws PeerLost.
  std::vector<std::string> round(int kind, const std::string& text);
  /// What `peer` says at `place`.
  json take(std::size_t peer, const Place& place, int kind);
  void throw_if_over(int kind) const;

  int rank_, size_;
  std::vector<std::string> names_;
  int local_size_ = 0, local_rank_ = 0;
  int part_ = 0;
  std::int64_t rounds_ = 0, exchanges_ = 0;
  std::shared_ptr<WaitEnd> end_;
  std::unique_ptr<PeerWatch> watch_;
  std::vector<LineSocket> peers_;  // of rank 0: all by rank; of others: rank 0
  std::vector<std::deque<json>> inbox_;
};

JoinedGroup::JoinedGroup(const Rendezvous& rendezvous, const JoinOptions& options)
    : rank_(rendezvous.rank), size_(rendezvous.size) {
  std::unique_ptr<LineListener> door, watched;
  json mine{{"name", fmt::format("{}, pid {}", host_name(), ::getpid())},
            {"host", machine_id()},
            {"program", options.program},
            {"task", options.task}};
  if (rank_ == 0) {
    door = std::make_unique<LineListener>(0);
    watched = std::make_unique<LineListener>(0);
    mine["watch"] = PeerWatch::address(*watched);
    mine["hosts"] = own_addresses();
    mine["port"] = door->port();
  }
  std::vector<json> all;
  for (const std::string& text : rendezvous.meet(mine.dump(), options.peer_timeout)) {
    all.push_back(json::parse(text));
    names_.push_back(fmt::format("process {} ({})", names_.size(), all.back()["name"].get<std::string>()));
    if (all.back()["host"] != mine["host"]) continue;
    if (static_cast<int>(all.size()) - 1 == rank_) local_rank_ = local_size_;
    ++local_size_;
  }
  check_alike(all, "program", "programs");
  check_alike(all, "task", "scripts or arguments");
  connect(all[0], door.get(), options.peer_timeout);
  PeerWatch::take_termination();
  watch_ = std::make_unique<PeerWatch>(rank_, names_, std::move(watched), all[0]["watch"].get<std::string>(),
                                       WatchLimits{.absence = options.peer_timeout});
  end_ = watch_->channel(channel());
  barrier();
}

void JoinedGroup::check_alike(const std::vector<json>& all, const char* what, const char* called) const {
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank][what] == all[0][what]) continue;
    throw Error(fmt::format("the processes of a run need the same {}: {} has {}, {} has {}", called, names_[0],
                            all[0][what].get<std::string>(), names_[rank], all[rank][what].get<std::string>()));
  }
}

void JoinedGroup::connect(const json& leader, LineListener* door, Seconds patience) {
  inbox_.resize(static_cast<std::size_t>(size_));
  if (rank_ != 0) {
    peers_.push_back(LineSocket::connect(leader["hosts"].get<std::vector<std::string>>(), leader["port"], patience));
    peers_[0].send(std::to_string(rank_));
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
      if (!caller.is_open()) continue;
      const std::vector<std::string> lines = caller.receive();
      if (lines.empty()) continue;
      const int rank = std::atoi(lines[0].c_str());
      if (rank < 1 || rank >= size_ || peers_[static_cast<std::size_t>(rank)].is_open()) {
        caller.close();
        continue;
      }
      peers_[static_cast<std::size_t>(rank)] = std::move(caller);
      // It may have gone on to the first round already.
      for (std::size_t i = 1; i < lines.size(); ++i) {
        inbox_[static_cast<std::size_t>(rank)].push_back(json::parse(lines[i]));
      }
      --missing;
    }
    std::erase_if(callers, [](const LineSocket& caller) { return !caller.is_open(); });
  }
}

void JoinedGroup::throw_if_over(int kind) const {
  if (watch_->lost().is_set()) watch_->lost().raise();
  if (kind == gathering && end_->is_set()) end_->raise();
}

json JoinedGroup::take(std::size_t peer, const Place& place, int kind) {
  std::deque<json>& inbox = inbox_[peer];
  for (;;) {
    while (!inbox.empty() && inbox.front()["place"].get<Place>() < place) inbox.pop_front();
    // A peer that is ahead has left this round out: the watch is about to say so.
    if (!inbox.empty() && inbox.front()["place"].get<Place>() == place) {
      json message = std::move(inbox.front());
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
    for (const std::string& line : peers_[peer].receive()) inbox.push_back(json::parse(line));
  }
}

std::vector<std::string> JoinedGroup::round(int kind, const std::string& text) {
  const PeerWatch::Waiting waiting(*watch_, ++exchanges_);
  throw_if_over(kind);
  const Place place{part_, kind, kind == gathering ? rounds_++ : 0};
  if (rank_ != 0) {
    peers_[0].send(json{{"place", place}, {"text", as_hex(text)}}.dump());
    std::vector<std::string> all = take(0, place, kind)["texts"].get<std::vector<std::string>>();
    for (std::string& each : all) each = from_hex(each);
    return all;
  }
  std::vector<std::string> texts{text}, encoded{as_hex(text)};
  for (std::size_t rank = 1; rank < peers_.size(); ++rank) {
    encoded.push_back(take(rank, place, kind)["text"].get<std::string>());
    texts.push_back(from_hex(encoded.back()));
  }
  const std::string answer = json{{"place", place}, {"texts", encoded}}.dump();
  for (std::size_t rank = 1; rank < peers_.size(); ++rank) {
    peers_[rank].send(answer);
    while (peers_[rank].is_open() && peers_[rank].wants_to_write()) {
      throw_if_over(kind);
      peers_[rank].flush();
    }
  }
  return texts;
}

void JoinedGroup::all_gather(std::span<const std::int64_t> mine, std::span<std::int64_t> all) {
  std::string text;
  for (const std::int64_t number : mine) text += fmt::format("{} ", number);
  auto to = all.begin();
  for (const std::string& numbers : round(gathering, text)) {
    for (const std::string& word : words_of(numbers)) *to++ = std::stoll(word);
  }
}

std::vector<std::string> JoinedGroup::conclude(const std::string& text, const std::string& failure) {
  if (!failure.empty()) {
    watch_->abort(channel(), channel() + channels_per_part, fmt::format("{}: {}", name_of(rank_), failure));
  }
  std::vector<std::string> texts = round(concluding, text);
  ++part_;
  rounds_ = 0;
  watch_->forget_channels_below(channel());
  end_ = watch_->channel(channel());
  return texts;
}

}  // namespace

std::unique_ptr<ProcessGroup> join(const Rendezvous& rendezvous, const JoinOptions& options) {
  return std::make_unique<JoinedGroup>(rendezvous, options);
}

}  // namespace gpubench::nccl
