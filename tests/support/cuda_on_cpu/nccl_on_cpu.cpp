// NCCL's functions that gpubench calls, for ranks of one process, or of several.
#include "tests/support/cuda_on_cpu/nccl_on_cpu.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <unistd.h>
#include <utility>

#include "core/comm/nccl/nccl_functions.h"
#include "tests/support/cuda_on_cpu/nccl_meeting.h"
#include "tests/support/cuda_on_cpu/queue.h"

namespace gpubench::cuda_on_cpu {
namespace {

struct Call {
  cudaStream_t stream;
  StepMaker make;
};

}  // namespace
}  // namespace gpubench::cuda_on_cpu

// NCCL's own name for what its handles point to.
struct ncclComm {
  std::shared_ptr<gpubench::cuda_on_cpu::NcclMember> member;
  std::shared_ptr<int> graphs = std::make_shared<int>(0);  // also held by what is captured
  std::vector<gpubench::cuda_on_cpu::Call> asked;          // not in the streams yet
  int polls_left = 0;
  bool ends = false;
  std::jthread pump;  // where other processes wait for this one, whose host may have nothing to wait for
};

namespace gpubench::cuda_on_cpu {
namespace {

/// All that the streams' lock guards. Never destroyed: communicators that are static variables of tests end later.
struct State {
  std::map<std::string, NcclClique> cliques;
  std::set<ncclComm*> live;
  int unique_ids = 0, aborts = 0;
};
State& state() {
  static State& one = *new State;
  return one;
}

thread_local int group_depth = 0;
thread_local std::set<ncclComm*> in_group;

StepMaker steps_of(const ncclComm& comm, const NcclPart& part) {
  return [member = comm.member, graphs = comm.graphs, part](cudaStream_t stream, std::size_t ticket) {
    const std::uint64_t number = member->next++;
    NcclMeeting::Place& place = member->clique->meeting(number).places[static_cast<std::size_t>(member->rank)];
    place.stream = stream;
    place.ticket = ticket;
    return Step{.ready = [member, number, part] { return came_to(*member, number, part); },
                .work = [member] { ++member->done; }};
  };
}

ncclResult_t add(NcclKind kind, const void* from, void* to, std::size_t count, ncclDataType_t type,
                 ncclRedOp_t reduction, int root, ncclComm_t comm, cudaStream_t stream) {
  const auto lock = lock_streams();
  if (group_depth == 0) nccl_misuse("a collective outside a group");
  if (gpu_of_thread() != comm->member->gpu)
    nccl_misuse("a collective with another GPU selected than its communicator's");
  const NcclPart part{kind, static_cast<const std::byte*>(from), static_cast<std::byte*>(to), count, type, reduction,
                      root};
  comm->asked.push_back({stream, steps_of(*comm, part)});
  in_group.insert(comm);
  return ncclSuccess;
}

/// What other processes wait for gets done even while this one's host does not wait for it.
void pump(const std::stop_token& stop, const std::shared_ptr<NcclMember>& member) {
  while (!stop.stop_requested()) {
    if (const auto lock = try_lock_streams(); lock.owns_lock() && member->done < member->next) {
      advance_to(*member->clique, member->rank, member->done);
      notify_streams();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

bool has_joined(ncclComm& comm) {
  NcclClique& clique = *comm.member->clique;
  if (static_cast<int>(clique.members.size()) == clique.size) {
    clique.processes = nullptr;
    return true;
  }
  if (group_depth > 0) return false;  // others of this process may be yet to come
  if (clique.processes == nullptr) clique.processes = std::make_unique<NcclProcesses>(clique.id, clique.size);
  for (const auto& [rank, member] : clique.members) clique.processes->sit(rank);
  if (!clique.processes->all_sit()) return false;
  if (!comm.pump.joinable())
    comm.pump = std::jthread([member = comm.member](const std::stop_token& stop) { pump(stop, member); });
  return true;
}

/// Whether the communicator is done with what it was asked for.
bool has_settled(ncclComm& comm) {
  if (!has_joined(comm)) return false;
  if (comm.polls_left > 0) {
    --comm.polls_left;
    return false;
  }
  const LibraryRuntime own;
  for (const Call& call : std::exchange(comm.asked, {})) queue_steps(call.stream, call.make);
  if (!comm.ends) return true;
  // The end of a communicator flushes what it has queued.
  for (const auto& [number, meeting] : comm.member->clique->meetings) {
    const NcclMeeting::Place& place = meeting.places[static_cast<std::size_t>(comm.member->rank)];
    if (!meeting.is_done && place.stream != nullptr) advance(place.stream, place.ticket);
  }
  return comm.member->done == comm.member->next;
}

void end(ncclComm_t comm) {
  comm->member->over = true;
  comm->asked.clear();
  state().live.erase(comm);
  const auto& members = comm->member->clique->members;
  const bool last = std::ranges::all_of(members, [](const auto& member) { return member.second->over; });
  if (last) comm->member->clique->processes = nullptr;
  notify_streams();
  delete comm;  // whose pump takes no lock that is held
}

ncclResult_t get_version(int* version) {
  *version = nccl().version;
  return ncclSuccess;
}
ncclResult_t get_unique_id(ncclUniqueId* id) {
  const auto lock = lock_streams();
  *id = {};
  const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
  std::snprintf(id->internal, sizeof id->internal, "nccl_on_cpu_%d_%lld_%d", ::getpid(), static_cast<long long>(now),
                state().unique_ids++);
  return nccl().broken;
}
const char* get_error_string(ncclResult_t result) {
  if (result == ncclRemoteError) return "remote process exited or there was a network error";
  if (result == ncclSystemError) return "unhandled system error";
  if (result == ncclUnhandledCudaError) return "unhandled cuda error";
  return "an error of the NCCL that runs on the CPU";
}
const char* get_last_error(ncclComm_t) {
  return "";
}

ncclResult_t init_rank(ncclComm_t* comm, int size, ncclUniqueId id, int rank, ncclConfig_t* config) {
  const auto lock = lock_streams();
  if (config->blocking != 0) nccl_misuse("a communicator that blocks");
  NcclClique& clique = state().cliques[id.internal];
  clique.id = id.internal;
  clique.size = size;
  *comm = new ncclComm;
  (*comm)->member = std::make_shared<NcclMember>();
  (*comm)->member->clique = &clique;
  (*comm)->member->rank = rank;
  (*comm)->member->gpu = gpu_of_thread();
  (*comm)->polls_left = nccl().polls;
  for (const auto& [other, member] : clique.members) {
    if (other == rank) nccl_misuse("two communicators with one rank");
    if (member->gpu == gpu_of_thread()) (*comm)->member->error = member->error = ncclInvalidUsage;
  }
  clique.members[rank] = (*comm)->member;
  state().live.insert(*comm);
  return ncclInProgress;
}
ncclResult_t get_async_error(ncclComm_t comm, ncclResult_t* error) {
  const auto lock = lock_streams();
  *error = comm->member->error;
  if (*error == ncclSuccess && !has_settled(*comm)) *error = ncclInProgress;
  return ncclSuccess;
}
ncclResult_t finalize(ncclComm_t comm) {
  const auto lock = lock_streams();
  if (comm->graphs.use_count() > 1 + static_cast<long>(comm->asked.size()))
    nccl_misuse("a graph outlives its communicator");
  comm->ends = true;
  comm->polls_left = nccl().polls;
  return ncclInProgress;
}
ncclResult_t destroy(ncclComm_t comm) {
  const auto lock = lock_streams();
  if (!comm->ends) nccl_misuse("a communicator was destroyed that was not finalized");
  end(comm);
  return ncclSuccess;
}
ncclResult_t abort(ncclComm_t comm) {
  const auto lock = lock_streams();
  ++state().aborts;
  end(comm);
  return ncclSuccess;
}

ncclResult_t group_start() {
  ++group_depth;
  return ncclSuccess;
}
ncclResult_t group_end() {
  const auto lock = lock_streams();
  if (--group_depth > 0) return ncclSuccess;
  for (ncclComm* comm : std::exchange(in_group, {})) comm->polls_left = nccl().polls;
  return ncclInProgress;
}

ncclResult_t all_reduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t reduction,
                        ncclComm_t comm, cudaStream_t stream) {
  return add(NcclKind::all_reduce, from, to, count, type, reduction, 0, comm, stream);
}
ncclResult_t all_gather(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclComm_t comm,
                        cudaStream_t stream) {
  return add(NcclKind::all_gather, from, to, count, type, ncclSum, 0, comm, stream);
}
ncclResult_t reduce_scatter(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t reduction,
                            ncclComm_t comm, cudaStream_t stream) {
  return add(NcclKind::reduce_scatter, from, to, count, type, reduction, 0, comm, stream);
}
ncclResult_t broadcast(const void* from, void* to, std::size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream) {
  return add(NcclKind::broadcast, from, to, count, type, ncclSum, root, comm, stream);
}

}  // namespace

Nccl& nccl() {
  static Nccl one;
  return one;
}

void fail_rank(int rank, ncclResult_t error) {
  const auto lock = lock_streams();
  for (ncclComm* comm : state().live) {
    if (comm->member->rank == rank) comm->member->error = error;
    if (comm->member->rank == rank) comm->member->clique->broken = true;
  }
}
std::vector<std::string> take_misuses() {
  const auto lock = lock_streams();
  return std::exchange(nccl_record().misuses, {});
}
int live_communicators() {
  const auto lock = lock_streams();
  return static_cast<int>(state().live.size());
}
int exchanges() {
  const auto lock = lock_streams();
  return nccl_record().exchanges;
}
int aborts() {
  const auto lock = lock_streams();
  return state().aborts;
}

}  // namespace gpubench::cuda_on_cpu

namespace gpubench::nccl {

const Functions& functions() {
  static const Functions table{.get_version = &cuda_on_cpu::get_version,
                               .get_unique_id = &cuda_on_cpu::get_unique_id,
                               .get_error_string = &cuda_on_cpu::get_error_string,
                               .get_last_error = &cuda_on_cpu::get_last_error,
                               .comm_init_rank_config = &cuda_on_cpu::init_rank,
                               .comm_finalize = &cuda_on_cpu::finalize,
                               .comm_destroy = &cuda_on_cpu::destroy,
                               .comm_abort = &cuda_on_cpu::abort,
                               .comm_get_async_error = &cuda_on_cpu::get_async_error,
                               .group_start = &cuda_on_cpu::group_start,
                               .group_end = &cuda_on_cpu::group_end,
                               .all_reduce = &cuda_on_cpu::all_reduce,
                               .all_gather = &cuda_on_cpu::all_gather,
                               .reduce_scatter = &cuda_on_cpu::reduce_scatter,
                               .broadcast = &cuda_on_cpu::broadcast};
  return table;
}

}  // namespace gpubench::nccl
