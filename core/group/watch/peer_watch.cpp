#include "core/group/watch/peer_watch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <random>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr Seconds connect_limit{20};
constexpr auto beat_interval = std::chrono::milliseconds(500);
constexpr int poll_ms = 100;
// A launcher that ends all because one has died asks us to end before we may have heard who it was.
constexpr auto time_to_hear_why = std::chrono::milliseconds(400);
// What rank 0 still writes (rows, tables, charts) takes longer than what others do. After that the watch ends the
// process, whatever it is in.
constexpr auto grace_of_first = std::chrono::seconds(15), grace = std::chrono::seconds(4);
constexpr int lost_status = 2, interrupted_status = 130;

std::string random_token() {
  std::random_device source;
  return fmt::format("{:08x}{:08x}", source(), source());
}

/// "beat\t3\t4" has three; the last may hold anything.
template <std::size_t count>
std::array<std::string, count> fields_of(const std::string& line) {
  std::array<std::string, count> fields;
  std::size_t from = 0;
  for (std::size_t i = 0; i < count && from <= line.size(); ++i) {
    const std::size_t end = i + 1 == count ? std::string::npos : line.find('\t', from);
    fields[i] = line.substr(from, end == std::string::npos ? end : end - from);
    if (end == std::string::npos) break;
    from = end + 1;
  }
  return fields;
}

std::int64_t number_in(const std::string& text, std::int64_t otherwise) {
  std::int64_t value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

void WaitEnd::raise() const {
  throw PeerLost(reason());
}

void WaitEnd::set(const std::string& reason) noexcept {
  const std::lock_guard lock(mutex_);
  if (set_.load(std::memory_order_relaxed)) return;
  reason_ = reason;
  set_.store(true, std::memory_order_release);
}

std::string WaitEnd::reason() const {
  const std::lock_guard lock(mutex_);
  return reason_;
}

struct PeerWatch::Peer {
  LineSocket socket{-1};
  Clock::time_point heard{};
  std::int64_t step = 0, waits_for = 0, waited_ms = -1;  // as it has told
  bool leaving = false;                                  // as it has told
  bool over = false;                                     // it has left in order
};

void PeerWatch::take_termination() {
  sigset_t terminate;
  sigemptyset(&terminate);
  sigaddset(&terminate, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &terminate, nullptr);
}

std::string PeerWatch::address(const LineListener& listener) {
  return fmt::format("{}\t{}\t{}", listener.port(), random_token(), fmt::join(own_addresses(), " "));
}

PeerWatch::PeerWatch(int rank, std::vector<std::string> names, std::unique_ptr<LineListener> listener,
                     const std::string& address, WatchLimits limits)
    : rank_(rank),
      names_(std::move(names)),
      limits_(limits),
      token_(fields_of<3>(address)[1]),
      listener_(std::move(listener)),
      peers_(names_.size()),
      next_beat_(Clock::now()),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (rank_ != 0) {
    const auto [port, token, hosts] = fields_of<3>(address);
    std::vector<std::string> list;
    for (std::size_t from = 0; from < hosts.size();) {
      const std::size_t end = std::min(hosts.find(' ', from), hosts.size());
      list.push_back(hosts.substr(from, end - from));
      from = end + 1;
    }
    std::ranges::reverse(list);  // loopback answers at once, and the token tells whether it is the right one
    peers_[0].socket = LineSocket::connect(list, static_cast<int>(number_in(port, 0)), connect_limit);
    peers_[0].socket.send(fmt::format("hello\t{}\t{}", token_, rank_));
  }
  for (Peer& peer : peers_) peer.heard = Clock::now();
  sigset_t terminate;
  sigemptyset(&terminate);
  sigaddset(&terminate, SIGTERM);
  signals_ = signalfd(-1, &terminate, SFD_CLOEXEC | SFD_NONBLOCK);
  thread_ = std::thread([this] { serve(); });
}

PeerWatch::~PeerWatch() {
  closing_ = true;
  post("bye");
  thread_.join();
  ::close(wake_);
  ::close(signals_);
}

void PeerWatch::on_end(std::function<void()> stop) {
  const std::lock_guard lock(mutex_);
  stop_ = std::move(stop);
}

void PeerWatch::post(std::string line) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(line));
  }
  eventfd_write(wake_, 1);
}

void PeerWatch::fail(const std::string& reason) noexcept {
  const std::string text = fmt::format("{} failed: {}", names_[static_cast<std::size_t>(rank_)], reason);
  lost_.set(text);
  post("fail\t" + text);
}

void PeerWatch::abort(int from, int to, const std::string& reason) noexcept {
  end_channels(from, to, reason);
  post(fmt::format("abort\t{} {}\t{}", from, to, reason));
}

void PeerWatch::end_channels(int from, int to, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (to <= forgotten_below_) return;
  aborts_.push_back({from, to, reason});
  for (const Channel& one : channels_) {
    if (from <= one.number && one.number < to) one.end->set(reason);
  }
}

std::shared_ptr<WaitEnd> PeerWatch::channel(int number) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(channels_, number, &Channel::number);
  if (found != channels_.end()) return found->end;
  channels_.push_back({number, std::make_shared<WaitEnd>()});
  for (const Abort& abort : aborts_) {
    if (abort.from <= number && number < abort.to) channels_.back().end->set(abort.reason);
  }
  return channels_.back().end;
}

void PeerWatch::forget_channels_below(int number) {
  const std::lock_guard lock(mutex_);
  forgotten_below_ = std::max(forgotten_below_, number);
  std::erase_if(channels_, [&](const Channel& one) { return one.number < number; });
  std::erase_if(aborts_, [&](const Abort& one) { return one.to <= number; });
}

void PeerWatch::serve() {
  std::vector<pollfd> polled;
  for (bool open = true; open;) {
    open = !closing_.load();
    polled.assign({{.fd = wake_, .events = POLLIN, .revents = 0}, {.fd = signals_, .events = POLLIN, .revents = 0}});
    if (listener_) polled.push_back({.fd = listener_->descriptor(), .events = POLLIN, .revents = 0});
    for (const Peer& peer : peers_) {
      const int events = POLLIN | (peer.socket.wants_to_write() ? POLLOUT : 0);
      if (peer.socket.is_open())
        polled.push_back({.fd = peer.socket.descriptor(), .events = static_cast<short>(events), .revents = 0});
    }
    for (const LineSocket& one : strangers_) polled.push_back({.fd = one.descriptor(), .events = POLLIN, .revents = 0});
    ::poll(polled.data(), polled.size(), open ? poll_ms : 0);
    eventfd_t woken = 0;
    eventfd_read(wake_, &woken);

    hear_signals();
    accept_peers();
    hear_from_all();
    send_posted();
    const Clock::time_point now = Clock::now();
    if (now >= next_beat_) {
      next_beat_ = now + beat_interval;
      say_how_far();
      look_for_silence(now);
      if (rank_ == 0) look_for_departure(), look_for_absence();
    }
    for (Peer& peer : peers_) peer.socket.flush();
    end_when_due(now);
  }
}

void PeerWatch::accept_peers() {
  if (!listener_) return;
  while (std::optional<LineSocket> one = listener_->accept()) strangers_.push_back(std::move(*one));
  for (LineSocket& stranger : strangers_) {
    const std::vector<std::string> lines = stranger.receive();
    if (lines.empty()) continue;
    const auto [hello, token, rank] = fields_of<3>(lines.front());
    const std::int64_t index = number_in(rank, 0);
    if (hello != "hello" || token != token_ || index < 1 || index >= std::ssize(peers_)) {
      stranger.close();
      continue;
    }
    Peer& peer = peers_[static_cast<std::size_t>(index)];
    peer.socket = std::move(stranger);
    peer.heard = Clock::now();
    if (lost_.is_set()) peer.socket.send("lost\t" + lost_.reason());
    tell_aborts(peer.socket);
    for (std::size_t i = 1; i < lines.size(); ++i) hear(static_cast<int>(index), lines[i]);
  }
  std::erase_if(strangers_, [](const LineSocket& one) { return !one.is_open(); });
}

void PeerWatch::wait_for_first() const {
  constexpr auto look = std::chrono::milliseconds(5);
  const auto begin = Clock::now();
  while (rank_ != 0 && !first_left_ && Clock::now() - begin < grace_of_first) std::this_thread::sleep_for(look);
}

void PeerWatch::tell_aborts(LineSocket& late) {
  const std::lock_guard lock(mutex_);
  for (const Abort& abort : aborts_) late.send(fmt::format("abort\t{} {}\t{}", abort.from, abort.to, abort.reason));
}

void PeerWatch::hear_from_all() {
  for (int rank = 0; rank < static_cast<int>(peers_.size()); ++rank) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (!peer.socket.is_open()) continue;
    const std::vector<std::string> lines = peer.socket.receive();
    if (!lines.empty()) peer.heard = Clock::now();
    for (const std::string& line : lines) hear(rank, line);
    if (!peer.socket.is_open() && rank == 0) first_left_ = true;
    if (!peer.socket.is_open() && !peer.over && !closing_) lose_rank(rank, "its process has ended");
  }
}

void PeerWatch::hear(int from, const std::string& line) {
  Peer& peer = peers_[static_cast<std::size_t>(from)];
  const auto [kind, first, rest] = fields_of<3>(line);
  if (kind == "beat") {
    const auto [step, waits_for, waited_ms, leaving] = fields_of<4>(first + "\t" + rest);
    peer.step = number_in(step, 0);
    peer.waits_for = number_in(waits_for, 0);
    peer.waited_ms = number_in(waited_ms, -1);
    peer.leaving = leaving == "leaving";
  } else if (kind == "bye") {
    peer.over = true;
  } else if (kind == "fail" || kind == "lost") {
    lose(fields_of<2>(line)[1]);
  } else if (kind == "abort") {
    const std::string to = first.substr(std::min(first.find(' ') + 1, first.size()));
    end_channels(static_cast<int>(number_in(first, 0)), static_cast<int>(number_in(to, 0)), rest);
    if (rank_ == 0) send_to_all(line, from);
  }
}

void PeerWatch::send_to_all(const std::string& line, int but) {
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    if (static_cast<int>(rank) != but) peers_[rank].socket.send(line);
  }
}

void PeerWatch::send_posted() {
  std::vector<std::string> lines;
  {
    const std::lock_guard lock(mutex_);
    lines.swap(posted_);
  }
  for (const std::string& line : lines) {
    const bool own_failure = rank_ == 0 && line.starts_with("fail\t");
    send_to_all(own_failure ? "lost" + line.substr(4) : line, rank_);
  }
}

void PeerWatch::say_how_far() {
  const bool waits = waits_.load(std::memory_order_relaxed) > 0;
  const Clock::time_point since{Clock::duration(waiting_since_.load(std::memory_order_relaxed))};
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - since).count();
  const std::string line = fmt::format("beat\t{}\t{}\t{}\t{}", step_.load(std::memory_order_relaxed),
                                       waiting_for_.load(std::memory_order_relaxed), waits ? waited : -1,
                                       leaving_.load(std::memory_order_relaxed) ? "leaving" : "");
  if (rank_ == 0) hear(0, line);
  send_to_all(line, rank_);
}

std::string PeerWatch::last_step_of(int rank) const {
  const std::int64_t step = peers_[static_cast<std::size_t>(rank)].step;
  return step > 0 ? fmt::format("; its last step was {}", step) : "; it had taken no step yet";
}

void PeerWatch::lose_rank(int rank, const std::string& what) {
  lose(fmt::format("{} was lost: {}{}", names_[static_cast<std::size_t>(rank)], what, last_step_of(rank)));
}

void PeerWatch::lose(const std::string& text) {
  lost_.set(text);
  if (rank_ == 0) send_to_all("lost\t" + lost_.reason(), -1);
}

void PeerWatch::look_for_silence(Clock::time_point now) {
  for (int rank = 0; rank < static_cast<int>(peers_.size()); ++rank) {
    const Peer& peer = peers_[static_cast<std::size_t>(rank)];
    const bool watched = rank != rank_ && !peer.over && (rank_ == 0 || rank == 0);
    if (!watched || now - peer.heard < limits_.silence) continue;
    lose_rank(rank, fmt::format("nothing has been heard of it for {:.0f} s (is it stopped, or its machine gone?)",
                                limits_.silence.count()));
  }
}

// Whoever does not wait while others have waited for so long is what they wait for.
void PeerWatch::look_for_absence() {
  const auto limit_ms = static_cast<std::int64_t>(limits_.absence.count() * 1000);
  const auto longest = std::ranges::max_element(peers_, {}, &Peer::waited_ms);
  if (longest->waited_ms < limit_ms) return;
  const auto absent = std::ranges::find_if(peers_, [](const Peer& peer) { return peer.waited_ms < 0 && !peer.over; });
  if (absent != peers_.end()) {
    return lose_rank(static_cast<int>(absent - peers_.begin()),
                     fmt::format("{} has waited for it for {:.0f} s (--peer-timeout)",
                                 names_[static_cast<std::size_t>(longest - peers_.begin())], limits_.absence.count()));
  }
  const auto shortest = std::ranges::min_element(peers_, {}, &Peer::waited_ms);
  if (shortest->waited_ms < limit_ms) return;
  lose(
      fmt::format("all processes have waited for each other for {:.0f} s (--peer-timeout): they take different paths "
                  "through the script",
                  limits_.absence.count()));
}

// All exchanges take every rank: what others still wait for cannot come from one that waits for their end.
void PeerWatch::look_for_departure() {
  const Seconds limit = std::min(limits_.departure, limits_.absence);
  const auto limit_ms = static_cast<std::int64_t>(limit.count() * 1000);
  const auto stuck = [&](bool leaving) {
    return std::ranges::find_if(
        peers_, [&](const Peer& peer) { return peer.leaving == leaving && peer.waited_ms >= limit_ms && !peer.over; });
  };
  const auto left = stuck(true), waits = stuck(false);
  if (left == peers_.end() || waits == peers_.end()) return;
  lose(fmt::format("{} has come to the end of its script, and {} has waited for it in an exchange for {:.0f} s",
                   names_[static_cast<std::size_t>(left - peers_.begin())],
                   names_[static_cast<std::size_t>(waits - peers_.begin())], limit.count()));
}

void PeerWatch::hear_signals() {
  signalfd_siginfo signal{};
  if (::read(signals_, &signal, sizeof signal) != sizeof signal) return;
  if (terminated_at_ == Clock::time_point{}) terminated_at_ = Clock::now();
}

void PeerWatch::end_when_due(Clock::time_point now) {
  if (lost_.is_set() && lost_at_ == Clock::time_point{}) lost_at_ = now;
  const bool terminated = terminated_at_ != Clock::time_point{} && now - terminated_at_ >= time_to_hear_why;
  if ((lost_at_ != Clock::time_point{} || terminated) && !stop_called_) {
    std::function<void()> stop;
    {
      const std::lock_guard lock(mutex_);
      stop = stop_;
    }
    if (stop) {
      stop_called_ = true;
      stop();
    }
  }
  const auto limit = rank_ == 0 ? grace_of_first : grace;
  if (lost_at_ != Clock::time_point{} && now - lost_at_ >= limit) {
    fmt::print(stderr, "gpubench: {}\n", lost_.reason());
    std::fflush(stderr);
    ::_exit(lost_status);
  }
  if (terminated_at_ != Clock::time_point{} && now - terminated_at_ >= limit) ::_exit(interrupted_status);
}

}  // namespace gpubench
