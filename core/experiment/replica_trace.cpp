#include "core/experiment/replica_trace.h"

#include <cassert>
#include <fmt/format.h>
#include <sstream>

namespace gpubench {
namespace {

/// Before a reason, where otherwise each line has the lengths of one replica's exchanges in nanoseconds.
constexpr char absence_mark = '!';

std::vector<Clock::duration> lengths_in(const std::string& line) {
  std::istringstream numbers(line);
  std::vector<Clock::duration> lengths;
  for (std::int64_t length = 0; numbers >> length;) lengths.emplace_back(length);
  return lengths;
}

}  // namespace

std::string ReplicaTrace::lengths() const {
  if (!absence.empty()) return absence_mark + absence;
  std::string text;
  for (const ExchangeTrace& replica : exchanges) {
    for (const TracedExchange& one : replica) text += fmt::format("{} ", one.length.count());
    text += '\n';
  }
  return text;
}

JoinedLengths join_lengths(const std::vector<std::string>& texts, const std::vector<std::string>& names) {
  assert(texts.size() == names.size());
  JoinedLengths joined;
  for (std::size_t process = 0; process < texts.size(); ++process) {
    if (texts[process].starts_with(absence_mark)) {
      const std::string reason = texts[process].substr(1);
      return {{}, texts.size() == 1 ? reason : names[process] + ": " + reason};
    }
    std::istringstream lines(texts[process]);
    for (std::string line; std::getline(lines, line);) joined.by_rank.push_back(lengths_in(line));
  }
  for (std::size_t rank = 1; rank < joined.by_rank.size(); ++rank) {
    const std::size_t first = joined.by_rank[0].size(), own = joined.by_rank[rank].size();
    if (own == first) continue;
    return {{},
            fmt::format("traces of all replicas need the same exchanges; rank 0 has {}, and rank {} has {}", first,
                        rank, own)};
  }
  return joined;
}

}  // namespace gpubench
