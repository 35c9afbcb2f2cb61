#include "core/group/rendezvous.h"

#include <charconv>
#include <cstdlib>
#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr std::string_view file_prefix = "file:", tcp_prefix = "tcp://";

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

int number_in(const char* name, const std::string& place) {
  const std::string text = variable(name);
  int number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || failed != std::errc() || end != text.data() + text.size()) {
    throw Error(
        fmt::format("GPUBENCH_NCCL_ID={} needs GPUBENCH_RANK (from 0) and GPUBENCH_RANKS (how many), one "
                    "process each; {} is {}",
                    place, name, text.empty() ? "not set" : fmt::format("'{}'", text)));
  }
  return number;
}

}  // namespace

std::optional<Rendezvous> Rendezvous::from_environment() {
  const std::string place = variable("GPUBENCH_NCCL_ID");
  if (place.empty()) return std::nullopt;
  if (!place.starts_with(file_prefix) && !place.starts_with(tcp_prefix)) {
    throw Error(
        fmt::format("GPUBENCH_NCCL_ID={} is no place to meet; possible are file:/path, seen by all processes, "
                    "and tcp://host:port, an address of rank 0",
                    place));
  }
  const Rendezvous result{place, number_in("GPUBENCH_RANK", place), number_in("GPUBENCH_RANKS", place)};
  if (result.size < 1 || result.rank < 0 || result.rank >= result.size) {
    throw Error(fmt::format("GPUBENCH_RANK={} is none of the {} ranks of GPUBENCH_RANKS, which count from 0",
                            result.rank, result.size));
  }
  return result;
}

std::vector<std::string> Rendezvous::meet(const std::string& mine, Seconds patience) const {
  if (place.starts_with(tcp_prefix)) return meet_at_address(*this, place.substr(tcp_prefix.size()), mine, patience);
  return meet_at_file(*this, place.substr(file_prefix.size()), mine, patience);
}

std::string subject(const Rendezvous& rendezvous) {
  return fmt::format("rank {} of {} at {} (GPUBENCH_NCCL_ID)", rendezvous.rank, rendezvous.size, rendezvous.place);
}

std::string ranks_text(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) text += i + 1 == ranks.size() ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  return text;
}

std::string refusal(const Rendezvous& rendezvous, int rank, int size, bool taken) {
  if (size != rendezvous.size) {
    return fmt::format("{}: rank {} came with GPUBENCH_RANKS={}, rank 0 with GPUBENCH_RANKS={}", rendezvous.place, rank,
                       size, rendezvous.size);
  }
  if (taken) return fmt::format("{}: two processes came with GPUBENCH_RANK={}", rendezvous.place, rank);
  return {};
}

}  // namespace gpubench
