#include "core/experiment/replica_trace.h"

#include <cassert>
#include <fmt/format.h>

#include "core/group/line_fields.h"

namespace gpubench {
std::string ReplicaTrace::lengths() const {
  std::vector<std::vector<std::int64_t>> by_replica;
  for (const ExchangeTrace& replica : exchanges) {
    std::vector<std::int64_t>& lengths = by_replica.emplace_back();
    for (const TracedExchange& one : replica) lengths.push_back(one.length.count());
  }
  return to_line(absence, by_replica);
}

JoinedLengths join_lengths(const std::vector<std::string>& texts, const std::vector<std::string>& names) {
  assert(texts.size() == names.size());
  JoinedLengths joined;
  for (std::size_t process = 0; process < texts.size(); ++process) {
    std::string reason;
    std::vector<std::vector<std::int64_t>> by_replica;
    LineFields(texts[process]).read(reason, by_replica);
    if (!reason.empty()) return {{}, texts.size() == 1 ? reason : names[process] + ": " + reason};
    for (const std::vector<std::int64_t>& lengths : by_replica)
      joined.by_rank.emplace_back(lengths.begin(), lengths.end());
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
