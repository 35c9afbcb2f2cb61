#include "core/comm/nccl/member.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/group/line_fields.h"

namespace gpubench::nccl {
namespace {

std::string conflict_between(const Member& one, const Member& other) {
  if (one.host != other.host) return {};
  for (const Gpu& mine : one.gpus) {
    for (const Gpu& theirs : other.gpus) {
      if (mine.bus_id != theirs.bus_id) continue;
      return fmt::format(
          "{} of {} and {} of {} are the same GPU ({}), and NCCL exchanges between different ones only: "
          "give each process its own with CUDA_VISIBLE_DEVICES",
          mine.name, one.name, theirs.name, other.name, mine.bus_id);
    }
  }
  return {};
}

}  // namespace

std::string Member::as_text() const {
  std::vector<std::string> names, bus_ids;
  for (const Gpu& gpu : gpus) names.push_back(gpu.name), bus_ids.push_back(gpu.bus_id);
  return to_line(name, host, version, names, bus_ids, unique_id, failure);
}

Member Member::from_text(const std::string& text) {
  Member member;
  std::vector<std::string> names, bus_ids;
  LineFields(text).read(member.name, member.host, member.version, names, bus_ids, member.unique_id, member.failure);
  if (names.size() != bus_ids.size()) {
    throw Error(
        fmt::format("nccl: the message of {} names {} GPUs and {} bus ids", member.name, names.size(), bus_ids.size()));
  }
  for (std::size_t i = 0; i < names.size(); ++i) member.gpus.push_back({names[i], bus_ids[i]});
  return member;
}

std::string conflict_among(std::span<const Gpu> gpus) {
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (gpus[i].bus_id != gpus[j].bus_id) continue;
      return fmt::format(
          "{} and {} are shares of one GPU ({}), and NCCL exchanges between different ones only: give each "
          "replica a GPU of its own, or use cross_device = \"local\"",
          gpus[j].name, gpus[i].name, gpus[i].bus_id);
    }
  }
  return {};
}

void check_together(std::span<const Member> members) {
  for (const Member& member : members) {
    if (member.failure.empty()) continue;
    throw Error(members.size() == 1 ? fmt::format("nccl: {}", member.failure)
                                    : fmt::format("nccl: {} cannot take part: {}", member.name, member.failure));
  }
  const Member& first = members.front();
  for (std::size_t i = 1; i < members.size(); ++i) {
    if (members[i].version != first.version) {
      throw Error(
          fmt::format("nccl: {} has NCCL {} and {} has NCCL {}, and they do not understand each other: install "
                      "one version everywhere",
                      first.name, first.version, members[i].name, members[i].version));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (const std::string conflict = conflict_between(members[j], members[i]); !conflict.empty()) {
        throw Error("nccl: " + conflict);
      }
    }
  }
}

}  // namespace gpubench::nccl
