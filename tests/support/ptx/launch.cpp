#include "tests/support/ptx/launch.h"

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "tests/support/cuda_on_cpu/block.h"
#include "tests/support/ptx/counts.h"
#include "tests/support/ptx/thread.h"

namespace gpubench::ptx {
namespace {

constexpr std::byte poison{0xFF};  // NaN, as all types of floating-point numbers

/// What a thread of a block has for itself. Kept, as the next block's threads need as much.
struct Own {
  std::vector<std::uint64_t> registers;
  std::vector<std::byte> local;
};

Own& own_of(unsigned thread) {
  static auto& all = *new std::vector<Own>(1024);  // streams may run until the program's end
  return all[thread];
}

void set_special_registers(std::uint64_t* registers) {
  using cuda_on_cpu::now;
  const auto set = [&](Special first, const auto& size) {
    std::uint64_t* const to = registers + static_cast<std::size_t>(first);
    to[0] = size.x;
    to[1] = size.y;
    to[2] = size.z;
  };
  set(Special::tid_x, now.thread);
  set(Special::ntid_x, now.threads);
  set(Special::ctaid_x, now.block);
  set(Special::nctaid_x, now.blocks);
  registers[static_cast<std::size_t>(Special::laneid)] = static_cast<std::uint64_t>(cuda_on_cpu::lane());
}

void run_thread(const void* argument) {
  const Launch& launch = *static_cast<const Launch*>(argument);
  const Function& kernel = *launch.kernel;
  Own& own = own_of(cuda_on_cpu::running_thread());
  if (own.registers.size() < kernel.registers) own.registers.resize(kernel.registers, ~std::uint64_t{});
  own.local.assign(kernel.local_bytes, poison);
  set_special_registers(own.registers.data());
  for (const auto& [to, value] : kernel.constants) own.registers[to] = value;
  // Parameters of calls are among them, so each thread has its own where there are calls.
  std::vector<std::byte> parameters;
  if (!kernel.calls.empty()) parameters = launch.parameters;
  Thread thread{kernel,
                *launch.module,
                own.registers.data(),
                kernel.calls.empty() ? const_cast<std::byte*>(launch.parameters.data()) : parameters.data(),
                own.local.data(),
                launch.shared_bytes,
                kernel.code.data()};
  execute(thread);
}

}  // namespace

void fail(const Instruction& at, const std::string& why) {
  cuda_on_cpu::fail_work("'" + std::string(at.text) + "': " + why);
}

Launch make_launch(const Module& module, const Function& kernel, const dim3& threads, std::size_t dynamic_bytes,
                   const void* const* arguments) {
  const unsigned count = threads.x * threads.y * threads.z;
  if (count > kernel.most_threads) {
    throw Error("PTX: a block of " + std::to_string(count) + " threads, but " + kernel.name + " is compiled for " +
                std::to_string(kernel.most_threads));
  }
  Launch launch{&module, &kernel, std::vector<std::byte>(kernel.parameter_bytes, poison),
                kernel.shared_bytes + dynamic_bytes};
  for (const Parameter& parameter : kernel.parameters) {
    std::memcpy(launch.parameters.data() + parameter.offset, *arguments++, parameter.bytes);
  }
  return launch;
}

void run(const Launch& launch, const dim3& blocks, const dim3& threads, const void* function) {
  note_launch(*launch.kernel, blocks, threads);
  cuda_on_cpu::run_grid({blocks, threads}, {function, &launch, sizeof launch, &run_thread});
}

}  // namespace gpubench::ptx
