// Rank 0 listens, the others connect, however much earlier or later; each says who it is and is answered when all have
// come. A connection that says something else is closed: ports are knocked at by many.
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <netdb.h>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/waiting.h"
#include "core/group/line_fields.h"
#include "core/group/rendezvous.h"

namespace gpubench {
namespace {

using Deadline = Clock::time_point;

constexpr std::string_view address_mark = "gpubench";
constexpr std::uint32_t longest_message = 1 << 20;
/// A caller that says nothing for so long is not one of ours.
constexpr std::chrono::seconds introduction{2};
constexpr int address_glance_ms = 50;

class Socket {
 public:
  explicit Socket(int handle = -1) : handle_(handle) {}
  ~Socket() {
    if (handle_ >= 0) ::close(handle_);
  }
  Socket(Socket&& other) noexcept : handle_(std::exchange(other.handle_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return handle_; }
  bool is_open() const { return handle_ >= 0; }

 private:
  int handle_;
};

/// False when the deadline has come first.
bool wait_for(int handle, short events, Deadline deadline) {
  for (;;) {
    check_interrupt();
    ::pollfd waiting{handle, events, 0};
    if (::poll(&waiting, 1, address_glance_ms) > 0) return true;
    if (Clock::now() >= deadline) return false;
  }
}

bool read_bytes(int handle, char* to, std::size_t bytes, Deadline deadline) {
  while (bytes > 0) {
    if (!wait_for(handle, POLLIN, deadline)) return false;
    const ssize_t got = ::recv(handle, to, bytes, 0);
    if (got <= 0) return false;
    to += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

/// None when what comes is not a message of ours, or the other end is gone.
std::optional<LineFields> receive(const Socket& from, Deadline deadline) {
  std::array<char, address_mark.size()> begin{};
  std::uint32_t length = 0;
  if (!read_bytes(from.get(), begin.data(), begin.size(), deadline) ||
      std::string_view(begin.data(), begin.size()) != address_mark ||
      !read_bytes(from.get(), reinterpret_cast<char*>(&length), sizeof length, deadline)) {
    return {};
  }
  length = ntohl(length);
  if (length > longest_message) return {};
  std::string text(length, '\0');
  if (!read_bytes(from.get(), text.data(), text.size(), deadline)) return {};
  return LineFields(std::move(text));
}

void send(const Socket& to, const std::string& text) {
  const std::uint32_t length = htonl(static_cast<std::uint32_t>(text.size()));
  std::string message(address_mark);
  message.append(reinterpret_cast<const char*>(&length), sizeof length).append(text);
  for (std::size_t sent = 0; sent < message.size();) {
    const ssize_t now = ::send(to.get(), message.data() + sent, message.size() - sent, MSG_NOSIGNAL);
    if (now <= 0) return;  // the other end is gone, and whoever waits for it finds out
    sent += static_cast<std::size_t>(now);
  }
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

class AddressMeeting {
 public:
  AddressMeeting(const Rendezvous& rendezvous, const std::string& address, Seconds patience)
      : rendezvous_(rendezvous),
        patience_(patience),
        deadline_(Clock::now() + std::chrono::duration_cast<Clock::duration>(patience)) {
    const std::size_t colon = address.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == address.size()) {
      throw Error(fmt::format("{}: an address is tcp://host:port", subject(rendezvous_)));
    }
    host_ = address.substr(0, colon);
    port_ = address.substr(colon + 1);
    if (host_.starts_with('[') && host_.ends_with(']')) host_ = host_.substr(1, host_.size() - 2);
  }

  std::vector<std::string> lead(const std::string& mine) {
    const Socket door = listen();
    std::vector<std::string> texts(static_cast<std::size_t>(rendezvous_.size));
    texts[0] = mine;
    std::vector<Socket> others(texts.size());
    std::string refused;
    while (refused.empty() && !missing(others).empty()) {
      if (!wait_for(door.get(), POLLIN, deadline_)) {
        throw Error(waited(fmt::format("{}, which did not come", ranks_text(missing(others)))));
      }
      refused = welcome(Socket(::accept(door.get(), nullptr, nullptr)), others, texts);
    }
    if (!refused.empty()) texts.clear();
    const std::string answer = to_line(refused, texts);
    for (const Socket& other : others) {
      if (other.is_open()) send(other, answer);
    }
    if (!refused.empty()) throw Error(refused);
    return texts;
  }

  std::vector<std::string> follow(const std::string& mine) {
    const Socket leader = connect();
    send(leader, to_line(rendezvous_.rank, rendezvous_.size, mine));
    std::optional<LineFields> answer = receive(leader, deadline_);
    if (!answer) throw Error(waited("an answer of rank 0, which did not come, or is not gpubench's"));
    std::string refused;
    std::vector<std::string> texts;
    answer->read(refused, texts);
    if (!refused.empty()) throw Error(refused);
    return texts;
  }

 private:
  std::string waited(const std::string& whom) const {
    return fmt::format("{} waited {:.3g} s for {}", subject(rendezvous_), patience_.count(), whom);
  }

  Addresses addresses(int flags) const {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    addrinfo* list = nullptr;
    const int status = ::getaddrinfo(host_.c_str(), port_.c_str(), &hints, &list);
    if (status != 0) throw Error(fmt::format("{}: {}", subject(rendezvous_), ::gai_strerror(status)));
    return Addresses(list);
  }

  Socket listen() const {
    const Addresses list = addresses(AI_PASSIVE);
    Socket door(::socket(list->ai_family, list->ai_socktype | SOCK_CLOEXEC, list->ai_protocol));
    const int on = 1;
    static_cast<void>(::setsockopt(door.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
    if (::bind(door.get(), list->ai_addr, list->ai_addrlen) != 0 || ::listen(door.get(), rendezvous_.size) != 0) {
      throw Error(
          fmt::format("{}: port {} of {} cannot be had: {}", subject(rendezvous_), port_, host_, std::strerror(errno)));
    }
    return door;
  }

  Socket connect() const {
    const Addresses list = addresses(0);
    for (Pause pause;; pause()) {
      check_interrupt();
      Socket leader(::socket(list->ai_family, list->ai_socktype | SOCK_CLOEXEC, list->ai_protocol));
      if (::connect(leader.get(), list->ai_addr, list->ai_addrlen) == 0) return leader;
      if (Clock::now() >= deadline_) throw Error(waited(fmt::format("rank 0 there: {}", std::strerror(errno))));
    }
  }

  std::vector<int> missing(const std::vector<Socket>& others) const {
    std::vector<int> ranks;
    for (int rank = 1; rank < rendezvous_.size; ++rank) {
      if (!others[static_cast<std::size_t>(rank)].is_open()) ranks.push_back(rank);
    }
    return ranks;
  }

  /// Why the caller and all others are sent away; empty when they are not.
  std::string welcome(Socket caller, std::vector<Socket>& others, std::vector<std::string>& texts) const {
    std::optional<LineFields> said = receive(caller, std::min(deadline_, Clock::now() + introduction));
    int rank = 0, size = 0;
    std::string text;
    try {
      if (!said) return {};
      said->read(rank, size, text);
    } catch (const Error&) {  // of another program
      return {};
    }
    std::string refused = refusal(rendezvous_, rank, size, false);
    if (refused.empty() && (rank < 1 || rank >= rendezvous_.size || others[static_cast<std::size_t>(rank)].is_open()))
      refused = refusal(rendezvous_, rank, rendezvous_.size, true);
    if (!refused.empty()) {
      send(caller, to_line(refused, std::vector<std::string>{}));
      return refused;
    }
    others[static_cast<std::size_t>(rank)] = std::move(caller);
    texts[static_cast<std::size_t>(rank)] = text;
    return {};
  }

  const Rendezvous& rendezvous_;
  std::string host_, port_;
  Seconds patience_;
  Deadline deadline_;
};

}  // namespace

std::vector<std::string> meet_at_address(const Rendezvous& rendezvous, const std::string& address,
                                         const std::string& mine, Seconds patience) {
  AddressMeeting meeting(rendezvous, address, patience);
  return rendezvous.rank == 0 ? meeting.lead(mine) : meeting.follow(mine);
}

}  // namespace gpubench
