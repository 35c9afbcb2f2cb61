// Jumps, calls, barriers, and what lanes of a warp exchange. Threads wait and meet as those of cuda_on_cpu do.
#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/support/cuda_on_cpu/block.h"
#include "tests/support/ptx/module.h"
#include "tests/support/ptx/opcodes.h"

namespace gpubench::ptx {
namespace {

using cuda_on_cpu::Meeting;
using cuda_on_cpu::Warp;

void jump(Thread& thread, const Instruction& at) {
  thread.next = thread.function.code.data() + at.number;
}
void end(Thread& thread, const Instruction&) {
  thread.next = nullptr;
}
void trap(Thread&, const Instruction& at) {
  fail(at, "the kernel gives up");
}
void nothing(Thread&, const Instruction&) {}

void call(Thread& thread, const Instruction& at) {
  const FunctionCall& call = thread.function.calls[static_cast<std::size_t>(at.number)];
  const Function& callee = thread.module.function(call.callee);
  std::vector<std::uint64_t> registers(callee.registers);
  std::vector<std::byte> parameters(callee.parameter_bytes), local(callee.local_bytes);
  if (call.arguments.size() != callee.parameters.size() || call.results.size() != callee.results.size()) {
    fail(at, "other parameters than " + callee.name + " has");
  }
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const Parameter &from = call.arguments[i], &to = callee.parameters[i];
    std::memcpy(parameters.data() + to.offset, thread.parameters + from.offset, std::min(from.bytes, to.bytes));
  }
  std::copy_n(thread.registers, static_cast<std::size_t>(Special::count), registers.data());
  for (const auto& [to, value] : callee.constants) registers[to] = value;
  Thread inner{callee,       thread.module,       registers.data(),  parameters.data(),
               local.data(), thread.shared_bytes, callee.code.data()};
  execute(inner);
  for (std::size_t i = 0; i < call.results.size(); ++i) {
    const Parameter &from = callee.results[i], &to = call.results[i];
    std::memcpy(thread.parameters + to.offset, parameters.data() + from.offset, std::min(from.bytes, to.bytes));
  }
}

void wait_for_block(Thread& thread, const Instruction& at) {
  const bool is_of_all = get<std::uint32_t>(thread, at.from[0]) == 0 && at.from[1] == Register{};
  if (!is_of_all) fail(at, "only barrier 0 of all threads is known");
  cuda_on_cpu::wait_for_block();
}
void wait_for_lanes(Thread& thread, const Instruction& at) {
  cuda_on_cpu::meet({Meeting::Kind::sync, get<std::uint32_t>(thread, at.from[0])}, {});
}

enum class Shuffle : std::uint8_t { up, down, butterfly, index };

/// The lane of which the caller takes the value, by the rules of shfl.sync; `is_valid`: whether it is one of its
/// segment. Else the caller keeps its own.
int source_lane(Shuffle how, int lane, int distance, std::uint32_t limits, bool& is_valid) {
  const int segment = static_cast<int>(limits >> 8 & 31U), clamp = static_cast<int>(limits & 31U);
  const int least = lane & segment, most = least | (clamp & ~segment);
  int from = lane;
  switch (how) {
    case Shuffle::up:
      from = lane - distance;
      is_valid = from >= most;  // the limit is the lowest lane here
      break;
    case Shuffle::down:
      from = lane + distance;
      is_valid = from <= most;
      break;
    case Shuffle::butterfly:
      from = lane ^ distance;
      is_valid = from <= most;
      break;
    case Shuffle::index:
      from = least | (distance & ~segment);
      is_valid = from <= most;
      break;
  }
  return is_valid ? from : lane;
}

void shuffle(Thread& thread, const Instruction& at) {
  const int distance = static_cast<int>(get<std::uint32_t>(thread, at.from[1]) & 31U);
  bool is_valid = false;
  const int from = source_lane(static_cast<Shuffle>(at.variant), cuda_on_cpu::lane(), distance,
                               get<std::uint32_t>(thread, at.from[2]), is_valid);
  const auto lanes = get<std::uint32_t>(thread, at.from[3]);
  const auto value = cuda_on_cpu::exchange(lanes, get<std::uint32_t>(thread, at.from[0]), from);
  set(thread, at.to[0], value);
  set(thread, at.to[1], is_valid);
}

std::uint32_t votes(Thread& thread, const Instruction& at) {
  Warp::Value given{};
  given[0] = std::byte{get<bool>(thread, at.from[0])};
  const auto lanes = get<std::uint32_t>(thread, at.from[1]);
  const Warp::Value taken = cuda_on_cpu::meet({Meeting::Kind::ballot, lanes}, given);
  std::uint32_t result = 0;
  std::memcpy(&result, taken.data(), sizeof result);
  return result;
}
void ballot(Thread& thread, const Instruction& at) {
  set(thread, at.to[0], votes(thread, at));
}
void vote_any(Thread& thread, const Instruction& at) {
  set(thread, at.to[0], votes(thread, at) != 0);
}

}  // namespace

void add_control_opcodes(Opcodes& all) {
  for (const char* const opcode : {"bra", "bra.uni"}) all.add(opcode, {&jump});
  for (const char* const opcode : {"ret", "ret.uni", "exit"}) all.add(opcode, {&end});
  for (const char* const opcode : {"call", "call.uni"}) all.add(opcode, {&call});
  for (const char* const opcode : {"bar.sync", "barrier.sync", "barrier.sync.aligned"}) {
    all.add(opcode, {&wait_for_block});
  }
  for (const char* const opcode : {"membar.cta", "membar.gl", "fence.acq_rel.cta", "fence.sc.cta"}) {
    all.add(opcode, {&nothing});
  }
  const auto add_shuffle = [&](const char* name, Shuffle how) {
    all.add(std::string("shfl.sync.") + name + ".b32", {&shuffle, static_cast<std::uint8_t>(how)});
  };
  all.add("trap", {&trap});
  all.add("bar.warp.sync", {&wait_for_lanes});
  add_shuffle("up", Shuffle::up);
  add_shuffle("down", Shuffle::down);
  add_shuffle("bfly", Shuffle::butterfly);
  add_shuffle("idx", Shuffle::index);
  all.add("vote.sync.ballot.b32", {&ballot});
  all.add("vote.sync.any.pred", {&vote_any});
}

}  // namespace gpubench::ptx
