#include "core/comm/nccl/nccl_factory.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <string>

#include "core/base/error.h"
#include "core/comm/nccl/member.h"
#include "core/comm/nccl/nccl_communicator.h"
#include "core/group/watched_group.h"

namespace gpubench {
namespace {

using nccl::Member;

constexpr Seconds default_patience{60};

struct Place {
  int rank = 0;
  std::vector<Member> members;
};

std::string failure_of(std::span<Device* const> devices, Member& member) {
  if (devices.empty()) return "a process without a GPU";
  for (Device* const device : devices) {
    const std::string name = to_string(device->id());
    if (device->id().kind != DeviceId::Kind::gpu) {
      return fmt::format("it exchanges between GPUs, and {} is none: use cross_device = \"local\"", name);
    }
    member.gpus.push_back({name, device->bus_id()});
  }
  return nccl::conflict_among(member.gpus);
}

Member introduce(std::span<Device* const> devices, const std::string& name, bool first) {
  Member member{.name = name, .host = machine_id(), .version = {}, .gpus = {}, .unique_id = {}, .failure = {}};
  try {
    member.failure = failure_of(devices, member);
    if (!member.failure.empty()) return member;
    member.version = nccl::library_version();
    if (!first) return member;
    devices.front()->bind_to_thread();
    ncclUniqueId id{};
    nccl::check(nccl::functions().get_unique_id(&id), "ncclGetUniqueId");
    member.unique_id.assign(id.internal, sizeof id.internal);
  } catch (const Error& error) {  // the others have to hear of it before it is thrown
    member.failure = error.what();
  }
  return member;
}

/// This process's position among the participants, after an exchange of their descriptions.
Place meet(std::span<Device* const> devices, ProcessGroup* group) {
  Place place;
  if (group != nullptr) place.rank = group->rank();
  const std::string name = group == nullptr ? "this process" : group->name_of(place.rank);
  const std::string mine = introduce(devices, name, place.rank == 0).as_text();
  const std::vector<std::string> texts = group == nullptr ? std::vector{mine} : group->all_gather(mine);
  for (const std::string& text : texts) place.members.push_back(Member::from_text(text));
  nccl::check_together(place.members);
  return place;
}

/// Starts them all before it waits for any: they wait for each other.
void join(nccl::Team& team, std::span<Device* const> devices, int first, int size, const std::string& unique_id) {
  ncclUniqueId id{};
  std::memcpy(id.internal, unique_id.data(), std::min(unique_id.size(), sizeof id.internal));
  nccl::check(nccl::functions().group_start(), "ncclGroupStart");
  try {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      devices[i]->bind_to_thread();
      const int rank = first + static_cast<int>(i);
      team.rank(i).comm.join(fmt::format("rank {} ({})", rank, to_string(devices[i]->id())), rank, size, id);
    }
  } catch (...) {
    static_cast<void>(nccl::functions().group_end());
    throw;
  }
  nccl::check(nccl::functions().group_end(), "ncclGroupEnd");
  for (std::size_t i = 0; i < devices.size(); ++i) team.settle(team.rank(i), "ncclCommInitRankConfig");
}

}  // namespace

Seconds nccl_patience() {
  const char* const text = std::getenv("GPUBENCH_NCCL_TIMEOUT");
  if (text == nullptr || *text == '\0') return default_patience;
  double seconds = 0;
  const char* const end = text + std::strlen(text);
  const auto [stopped, failed] = std::from_chars(text, end, seconds);
  if (failed != std::errc() || stopped != end || !(seconds > 0)) {
    throw Error(fmt::format("GPUBENCH_NCCL_TIMEOUT={} is no number of seconds above 0", text));
  }
  return Seconds(seconds);
}

std::vector<std::unique_ptr<Communicator>> make_nccl_communicators(std::span<Device* const> devices,
                                                                   ProcessGroup* group, Seconds patience) {
  const Place place = meet(devices, group);
  int first = 0, size = 0;
  for (std::size_t i = 0; i < place.members.size(); ++i) {
    const int gpus = static_cast<int>(place.members[i].gpus.size());
    if (static_cast<int>(i) < place.rank) first += gpus;
    size += gpus;
  }
  const auto team = std::make_shared<nccl::Team>(devices, group, patience);
  join(*team, devices, first, size, place.members.front().unique_id);
  team->watch();
  std::vector<std::unique_ptr<Communicator>> communicators;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    communicators.push_back(
        std::make_unique<nccl::NcclCommunicator>(team, i, *devices[i], first + static_cast<int>(i), size));
  }
  return communicators;
}

}  // namespace gpubench
