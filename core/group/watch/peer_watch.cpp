#include "core/group/watch/peer_watch.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <poll.h>
#include <random>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/group/line_fields.h"
#include "core/group/process_group.h"

namespace gpubench {
namespace {

constexpr Seconds connect_limit{20};
constexpr auto beat_interval = std::chrono::milliseconds(500);
constexpr int watch_poll_ms = 100;
// A launcher that ends all because one has died asks us to end before we may have heard who it was.
constexpr auto time_to_hear_why = std::chrono::milliseconds(400);

std::string random_token() {
  std::random_device source;
  return fmt::format("{:08x}{:08x}", source(), source());
}

sigset_t termination() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  return signals;
}

std::vector<LineSocket> closed_sockets(std::size_t count) {
  std::vector<LineSocket> sockets;
  for (std::size_t i = 0; i < count; ++i) sockets.emplace_back(-1);
  return sockets;
}

}  // namespace

void PeerWatch::take_termination() {
  const sigset_t signals = termination();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

std::string PeerWatch::address(const LineListener& listener) {
  return to_line(listener.port(), random_token(), own_addresses());
}

PeerWatch::PeerWatch(int rank, const std::vector<std::string>& names, std::unique_ptr<LineListener> listener,
                     const std::string& address, WatchLimits limits, EndProcess end_process)
    : rank_(rank),
      limits_(limits),
      policy_(rank, names, limits),
      end_process_(std::move(end_process)),
      listener_(std::move(listener)),
      states_(names.size()),
      sockets_(closed_sockets(names.size())),
      exit_status_(failed_exit_status),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  int port = 0;
  std::vector<std::string> hosts;
  LineFields(address).read(port, token_, hosts);
  if (rank_ != 0) {
    std::ranges::reverse(hosts);  // loopback answers at once, and the token tells whether it is the right one
    sockets_[0] = LineSocket::connect(hosts, port, connect_limit);
    sockets_[0].send(to_line("hello", token_, rank_));
  }
  for (PeerState& state : states_) state.heard = Clock::now();
  const sigset_t signals = termination();
  signals_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  thread_ = std::thread([this] { serve(); });
}

PeerWatch::~PeerWatch() {
  closing_ = true;
  post(to_line("bye"));
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

void PeerWatch::fail(const std::string& reason, int exit_status) noexcept {
  const std::string text = fmt::format("{} failed: {}", policy_.name(rank_), reason);
  if (!lost_.is_set()) exit_status_ = exit_status;
  lost_.set(text);
  post(to_line("lost", text, exit_status));
}

void PeerWatch::abort(int from, int to, const std::string& reason) noexcept {
  channels_.abort({from, to, reason});
  post(to_line("abort", from, to, reason));
}

void PeerWatch::wait_for_first() const {
  constexpr auto look = std::chrono::milliseconds(5);
  const auto begin = Clock::now();
  while (rank_ != 0 && !first_left_ && Clock::now() - begin < limits_.grace_of_first) std::this_thread::sleep_for(look);
}

void PeerWatch::serve() {
  for (bool open = true; open;) {
    open = !closing_.load();
    poll_sockets(open);
    hear_signals();
    accept_peers();
    hear_from_all();
    send_posted();
    const Clock::time_point now = Clock::now();
    if (now >= next_beat_) {
      next_beat_ = now + beat_interval;
      beat();
      if (const auto reason = policy_.verdict(states_, now)) lose(*reason, failed_exit_status);
    }
    for (LineSocket& socket : sockets_) socket.flush();
    end_when_due(now);
  }
}

void PeerWatch::poll_sockets(bool open) {
  std::vector<pollfd> polled;
  const auto add = [&](int descriptor, int events) {
    polled.push_back({.fd = descriptor, .events = static_cast<short>(events), .revents = 0});
  };
  add(wake_, POLLIN);
  add(signals_, POLLIN);
  if (listener_) add(listener_->descriptor(), POLLIN);
  for (const LineSocket& socket : sockets_) {
    if (socket.is_open()) add(socket.descriptor(), POLLIN | (socket.wants_to_write() ? POLLOUT : 0));
  }
  for (const LineSocket& stranger : strangers_) add(stranger.descriptor(), POLLIN);
  ::poll(polled.data(), polled.size(), open ? watch_poll_ms : 0);
  eventfd_t woken = 0;
  eventfd_read(wake_, &woken);
}

void PeerWatch::accept_peers() {
  if (!listener_) return;
  while (std::optional<LineSocket> one = listener_->accept()) strangers_.push_back(std::move(*one));
  for (LineSocket& stranger : strangers_) {
    const std::vector<std::string> lines = stranger.receive();
    if (!lines.empty()) greet(std::move(stranger), lines);
  }
  std::erase_if(strangers_, [](const LineSocket& one) { return !one.is_open(); });
}

/// Keeps the connection of a process of this group and closes any other: ports are knocked at by many.
void PeerWatch::greet(LineSocket stranger, const std::vector<std::string>& lines) {
  std::string kind, token;
  int rank = 0;
  try {
    LineFields(lines.front()).read(kind, token, rank);
  } catch (const Error&) {
    return;
  }
  if (kind != "hello" || token != token_ || rank < 1 || rank >= std::ssize(sockets_)) return;
  LineSocket& socket = sockets_[static_cast<std::size_t>(rank)] = std::move(stranger);
  states_[static_cast<std::size_t>(rank)].heard = Clock::now();
  if (lost_.is_set()) socket.send(to_line("lost", lost_.reason(), exit_status()));
  for (const ChannelAbort& abort : channels_.aborts())
    socket.send(to_line("abort", abort.from, abort.to, abort.reason));
  for (std::size_t i = 1; i < lines.size(); ++i) hear(rank, lines[i]);
}

void PeerWatch::hear_from_all() {
  for (int rank = 0; rank < static_cast<int>(sockets_.size()); ++rank) {
    LineSocket& socket = sockets_[static_cast<std::size_t>(rank)];
    PeerState& state = states_[static_cast<std::size_t>(rank)];
    if (!socket.is_open()) continue;
    const std::vector<std::string> lines = socket.receive();
    if (!lines.empty()) state.heard = Clock::now();
    for (const std::string& line : lines) hear(rank, line);
    if (!socket.is_open() && rank == 0) first_left_ = true;
    if (!socket.is_open() && !state.left && !closing_)
      lose(policy_.loss(rank, "its process has ended", state), failed_exit_status);
  }
}

void PeerWatch::hear(int from, const std::string& line) {
  PeerState& state = states_[static_cast<std::size_t>(from)];
  LineFields fields(line);
  std::string kind, reason;
  try {
    fields.read(kind);
    if (kind == "beat") {
      fields.read(state.step, state.waited_ms, state.leaving);
    } else if (kind == "bye") {
      state.left = true;
    } else if (kind == "lost") {
      int exit_status = 0;
      fields.read(reason, exit_status);
      lose(reason, exit_status);
    } else if (kind == "abort") {
      ChannelAbort abort;
      fields.read(abort.from, abort.to, abort.reason);
      channels_.abort(abort);
      if (rank_ == 0) send_to_all(line, from);
    }
  } catch (const Error& error) {
    lose(policy_.loss(from, error.what(), state), failed_exit_status);
  }
}

void PeerWatch::send_to_all(const std::string& line, int but) {
  for (std::size_t rank = 0; rank < sockets_.size(); ++rank) {
    if (static_cast<int>(rank) != but) sockets_[rank].send(line);
  }
}

void PeerWatch::send_posted() {
  std::vector<std::string> lines;
  {
    const std::lock_guard lock(mutex_);
    lines.swap(posted_);
  }
  for (const std::string& line : lines) send_to_all(line, rank_);
}

void PeerWatch::beat() {
  const bool waits = waits_.load(std::memory_order_relaxed) > 0;
  const Clock::time_point since{Clock::duration(waiting_since_.load(std::memory_order_relaxed))};
  PeerState& own = states_[static_cast<std::size_t>(rank_)];
  own.step = step_.load(std::memory_order_relaxed);
  own.waited_ms = waits ? std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - since).count() : -1;
  own.leaving = leaving_.load(std::memory_order_relaxed);
  send_to_all(to_line("beat", own.step, own.waited_ms, own.leaving), rank_);
}

void PeerWatch::lose(const std::string& reason, int exit_status) {
  if (!lost_.is_set()) exit_status_ = exit_status;
  lost_.set(reason);
  if (rank_ == 0) send_to_all(to_line("lost", lost_.reason(), this->exit_status()), rank_);
}

void PeerWatch::hear_signals() {
  signalfd_siginfo signal{};
  if (::read(signals_, &signal, sizeof signal) != sizeof signal) return;
  if (terminated_at_ == Clock::time_point{}) terminated_at_ = Clock::now();
}

void PeerWatch::end_when_due(Clock::time_point now) {
  if (lost_.is_set() && lost_at_ == Clock::time_point{}) lost_at_ = now;
  const auto is_past = [&](Clock::time_point since, Seconds time) {
    return since != Clock::time_point{} && now - since >= time;
  };
  if ((is_past(lost_at_, {}) || is_past(terminated_at_, time_to_hear_why)) && !stop_called_) {
    const std::lock_guard lock(mutex_);
    if (stop_) {
      stop_called_ = true;
      stop_();
    }
  }
  const Seconds grace = rank_ == 0 ? limits_.grace_of_first : limits_.grace_of_others;
  const bool is_due = is_past(lost_at_, grace) || is_past(terminated_at_, grace);
  if (!is_due || end_called_ || !end_process_) return;
  end_called_ = true;
  end_process_(is_past(lost_at_, grace) ? lost_.reason() : std::string());
}

}  // namespace gpubench
