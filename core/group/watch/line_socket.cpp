#include "core/group/watch/line_socket.h"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr int connect_patience_ms = 2000;

sockaddr_in address_of(const std::string& host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  return address;
}

/// -1 with errno where it cannot be reached.
int connected(const std::string& host, int port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const sockaddr_in address = address_of(host, port);
  if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return descriptor;
  int failure = errno;
  if (failure == EINPROGRESS) {
    pollfd ready{.fd = descriptor, .events = POLLOUT, .revents = 0};
    socklen_t length = sizeof failure;
    failure = ETIMEDOUT;
    if (::poll(&ready, 1, connect_patience_ms) > 0) getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failure, &length);
  }
  if (failure == 0) return descriptor;
  ::close(descriptor);
  errno = failure;
  return -1;
}

void send_at_once(int descriptor) {
  const int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

LineSocket::LineSocket(LineSocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      unsent_(std::move(other.unsent_)),
      partial_(std::move(other.partial_)) {}

LineSocket& LineSocket::operator=(LineSocket&& other) noexcept {
  close();
  descriptor_ = std::exchange(other.descriptor_, -1);
  unsent_ = std::move(other.unsent_);
  partial_ = std::move(other.partial_);
  return *this;
}

LineSocket::~LineSocket() {
  close();
}

void LineSocket::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

LineSocket LineSocket::connect(const std::vector<std::string>& hosts, int port, Seconds limit) {
  const Stopwatch watch;
  std::string reason = "no address is known";
  do {
    for (const std::string& host : hosts) {
      const int descriptor = connected(host, port);
      if (descriptor >= 0) {
        send_at_once(descriptor);
        return LineSocket(descriptor);
      }
      reason = std::strerror(errno);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  } while (watch.elapsed() < limit);
  throw Error(
      fmt::format("process 0 cannot be reached at {}, port {} ({}); the processes of a run watch each other over "
                  "TCP, and GPUBENCH_PORT names a port that is free and let through",
                  fmt::join(hosts, ", "), port, reason));
}

void LineSocket::send(const std::string& line) {
  if (!is_open()) return;
  unsent_ += line + '\n';
  flush();
}

void LineSocket::flush() {
  while (is_open() && !unsent_.empty()) {
    const ssize_t sent = ::send(descriptor_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      unsent_.erase(0, static_cast<std::size_t>(sent));
    } else if (sent < 0 && errno == EINTR) {
      continue;
    } else {
      // What the other end has sent before it ended may still be read.
      if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK) unsent_.clear();
      return;
    }
  }
}

std::vector<std::string> LineSocket::receive() {
  std::array<char, 4096> buffer;
  while (is_open()) {
    const ssize_t got = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
    if (got > 0) {
      partial_.append(buffer.data(), static_cast<std::size_t>(got));
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    close();
  }
  std::vector<std::string> lines;
  std::size_t from = 0;
  for (std::size_t end = partial_.find('\n'); end != std::string::npos; end = partial_.find('\n', from)) {
    lines.push_back(partial_.substr(from, end - from));
    from = end + 1;
  }
  partial_.erase(0, from);
  return lines;
}

LineListener::LineListener(int port) : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(descriptor_, SOMAXCONN) != 0) {
    const int failure = errno;
    ::close(descriptor_);
    throw Error(
        fmt::format("port {}, over which the processes of a run watch each other, cannot be had: {}; "
                    "GPUBENCH_PORT names another, and without it any free port is taken",
                    port, std::strerror(failure)));
  }
  socklen_t length = sizeof address;
  getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &length);
  port_ = ntohs(address.sin_port);
}

LineListener::~LineListener() {
  ::close(descriptor_);
}

std::optional<LineSocket> LineListener::accept() {
  const int descriptor = ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (descriptor < 0) return std::nullopt;
  send_at_once(descriptor);
  return LineSocket(descriptor);
}

std::vector<std::string> own_addresses() {
  std::vector<std::string> addresses;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) == 0) {
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
    for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
      if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
      if ((one->ifa_flags & IFF_UP) == 0U || (one->ifa_flags & IFF_LOOPBACK) != 0U) continue;
      std::array<char, INET_ADDRSTRLEN> text{};
      inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr, text.data(), text.size());
      addresses.emplace_back(text.data());
    }
  }
  addresses.emplace_back("127.0.0.1");
  return addresses;
}

}  // namespace gpubench
