#include "tests/support/cuda_on_cpu/nccl_meeting.h"

#include <span>

#include "tests/support/cuda_on_cpu/queue.h"

namespace gpubench::cuda_on_cpu {
namespace {

/// Whether all have come, which those that can are made to do.
bool all_are_there(NcclClique& clique, std::uint64_t number) {
  for (int rank = 0; rank < clique.size; ++rank) {
    const auto place = [&]() -> NcclMeeting::Place& {
      return clique.meeting(number).places[static_cast<std::size_t>(rank)];
    };
    if (!place().part && place().stream != nullptr) advance(place().stream, place().ticket);
    if (clique.meeting(number).is_done) return true;
    if (!place().part) return false;
  }
  return true;
}

void carry_out(std::span<const NcclPart> parts) {
  if (is_one_collective(parts)) {
    exchange(parts);
  } else {
    nccl_misuse("ranks asked for different collectives at the same place in their order");
  }
  ++nccl_record().exchanges;
  notify_streams();
}

/// Whether the ranks of all processes have got so far: `count(rank)` collectives.
template <class Count>
bool all_reached(NcclClique& clique, std::uint64_t wanted, const Count& count) {
  for (const auto& [rank, member] : clique.members) {
    if (count(rank) < wanted && wanted > 0) advance_to(clique, rank, wanted - 1);
  }
  for (int rank = 0; rank < clique.size; ++rank) {
    if (count(rank) < wanted) return false;
  }
  return true;
}

/// The same as came_to(), with ranks in other processes.
bool came_with_others(NcclMember& member, std::uint64_t number, const NcclPart& part) {
  NcclClique& clique = *member.clique;
  NcclProcesses& processes = *clique.processes;
  const auto brought = [&](int rank) { return processes.brought(rank); };
  const auto taken = [&](int rank) { return processes.taken(rank); };
  if (brought(member.rank) == number) {
    if (!all_reached(clique, number, taken)) return false;
    // What was advanced there may have come to here.
    if (brought(member.rank) == number) processes.bring(member.rank, part);
  }
  if (brought(member.rank) < number) {  // of an earlier one, on another stream
    advance_to(clique, member.rank, number - 1);
    return false;
  }
  if (!all_reached(clique, number + 1, brought)) return false;
  std::vector<NcclPart> parts = processes.parts();
  parts[static_cast<std::size_t>(member.rank)].to = part.to;
  carry_out(parts);
  processes.take(member.rank);
  return true;
}

}  // namespace

NcclRecord& nccl_record() {
  static NcclRecord& one = *new NcclRecord;
  return one;
}

void nccl_misuse(const std::string& what) {
  nccl_record().misuses.push_back(what);
}

void advance_to(NcclClique& clique, int rank, std::uint64_t number) {
  const NcclMeeting::Place& place = clique.meeting(number).places[static_cast<std::size_t>(rank)];
  if (place.stream != nullptr) advance(place.stream, place.ticket);
}

bool came_to(NcclMember& member, std::uint64_t number, const NcclPart& part) {
  NcclClique& clique = *member.clique;
  if (member.over) return true;
  if (clique.broken) return false;
  if (clique.processes != nullptr) return came_with_others(member, number, part);
  NcclMeeting& meeting = clique.meeting(number);
  meeting.places[static_cast<std::size_t>(member.rank)].part = part;
  if (!meeting.is_done && !all_are_there(clique, number)) return false;
  if (meeting.is_done) return true;
  std::vector<NcclPart> parts;
  for (const NcclMeeting::Place& place : meeting.places) parts.push_back(*place.part);
  meeting.is_done = true;
  carry_out(parts);
  return true;
}

}  // namespace gpubench::cuda_on_cpu
