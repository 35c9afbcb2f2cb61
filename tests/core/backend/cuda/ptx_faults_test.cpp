// Each kind of wrong kernel is caught when PTX is executed: a kernel with the fault ends the test with its message, the
// same kernel without the fault passes.
#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/core/backend/cuda/ptx_probe.h"
#include "tests/support/cuda_on_cpu/access.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/expect_error.h"
#include "tests/support/ptx/counts.h"

namespace gpubench::ptx {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr unsigned threads = 64;

class PtxFaultsDeathTest : public testing::Test {
 protected:
  /// The kernel's out and a have 64 values of 32 bits each; nothing has written b.
  static void run(const std::string& text) {
    cuda_on_cpu::checks() = cuda_on_cpu::checks_named("memory,initialized,races");
    constexpr std::size_t bytes = threads * sizeof(float);
    launch_probe(text, threads, {zeros(bytes), zeros(bytes), device_memory(bytes)});
    std::_Exit(0);
  }
  static void expect_fault(const std::string& wrong, const std::string& right, const char* message) {
    EXPECT_EXIT(run(right), testing::ExitedWithCode(0), "");
    EXPECT_DEATH(run(wrong), message);
  }
};

/// %rd1 and %rd2: where the thread's elements of out and a lie; %rd3: of b. %r1: the thread.
const std::string own_elements = R"(
  ld.param.u64 %rd4, [out]; ld.param.u64 %rd5, [a]; ld.param.u64 %rd6, [b];
  cvta.to.global.u64 %rd4, %rd4;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd7, %r1, 4;
  add.s64 %rd1, %rd4, %rd7; add.s64 %rd2, %rd5, %rd7; add.s64 %rd3, %rd6, %rd7;
)";

const std::string storage = ".shared .align 4 .b8 storage[256];\n";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST_F(PtxFaultsDeathTest, BeyondAnAllocation) {
  const std::string right = probe(own_elements + "ld.global.f32 %f1, [%rd2]; st.global.f32 [%rd1], %f1;");
  expect_fault(replaced(right, "[%rd1], %f1", "[%rd1+4], %f1"), right,
               "thread \\(63, 0, 0\\): writes 4 bytes at 0x[0-9a-f]+: 0 bytes behind the end of an allocation of 256");
  expect_fault(replaced(right, "[%rd2]", "[%rd2+-4]"), right,
               "thread \\(0, 0, 0\\): reads 4 bytes .* before the begin");
}

TEST_F(PtxFaultsDeathTest, AMisalignedVector) {
  const std::string right = probe(own_elements +
                                  "and.b32 %r2, %r1, 3; setp.ne.s32 %p1, %r2, 0; @%p1 ret;"
                                  "ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd2]; st.global.u32 [%rd1], %r3;");
  expect_fault(replaced(right, "and.b32 %r2, %r1, 3", "and.b32 %r2, %r1, 1"), right,
               "thread \\(2, 0, 0\\): 'ld.global.v4.u32 .*': misaligned address [0-9]+ of 16 bytes");
}

TEST_F(PtxFaultsDeathTest, MemoryThatNothingHasWritten) {
  const std::string right = probe(own_elements + "ld.global.f32 %f1, [%rd2]; st.global.f32 [%rd1], %f1;");
  expect_fault(replaced(right, "[%rd2]", "[%rd3]"), right, "reads 4 bytes .*that nothing has written");
}

TEST_F(PtxFaultsDeathTest, MemoryOfWhichNothingHasWrittenMoreThanPadding) {
  const std::string right = probe(own_elements +
                                  "setp.ne.u32 %p1, %r1, 0; @%p1 ret; st.global.u32 [%rd3], %r1;"
                                  "ld.global.u64 %rd8, [%rd3]; st.global.u64 [%rd1], %rd8;");
  expect_fault(replaced(right, "st.global.u32 [%rd3], %r1;", ""), right, "reads 8 bytes .*that nothing has written");
}

TEST_F(PtxFaultsDeathTest, SharedMemoryThatTheBlockHasNotWritten) {
  const std::string right = probe(storage + own_elements +
                                  "shl.b32 %r2, %r1, 2; mov.u32 %r3, storage; add.s32 %r4, %r3, %r2;"
                                  "st.shared.u32 [%r4], %r1; ld.shared.u32 %r5, [%r4]; st.global.u32 [%rd1], %r5;");
  expect_fault(replaced(right, "st.shared.u32 [%r4], %r1;", ""), right, "shared memory that the block has not written");
}

TEST_F(PtxFaultsDeathTest, BeyondSharedMemory) {
  const std::string right = probe(storage + own_elements + "shl.b32 %r2, %r1, 2; st.shared.u32 [%r2], %r1;");
  expect_fault(replaced(right, "[%r2], %r1", "[%r2+4], %r1"), right,
               "thread \\(63, 0, 0\\): 'st.shared.u32 .*': 4 bytes at 256 of 256 bytes of shared memory");
  const std::string generic =
      replaced(right, "st.shared.u32 [%r2]", "cvt.u64.u32 %rd8, %r2; cvta.shared.u64 %rd8, %rd8; st.u32 [%rd8]");
  expect_fault(replaced(generic, "[%rd8], %r1", "[%rd8+4], %r1"), generic,
               "thread \\(63, 0, 0\\): 'st.u32 .*': 4 bytes at 256 of 256 bytes of shared memory");
}

/// Each thread writes its element of shared memory, and reads that of the thread with the opposite number.
std::string exchange(const std::string& barrier, int opposite) {
  return probe(storage + own_elements + "shl.b32 %r2, %r1, 2; st.shared.u32 [%r2], %r1;" + barrier +
               "xor.b32 %r3, %r1, " + std::to_string(opposite) +
               "; shl.b32 %r3, %r3, 2; ld.shared.u32 %r4, [%r3]; st.global.u32 [%rd1], %r4;");
}

TEST_F(PtxFaultsDeathTest, AMissingBarrierInBothOrdersOfThreads) {
  for (const bool last_first : {false, true}) {
    cuda_on_cpu::machine().last_thread_first = last_first;
    expect_fault(exchange("", 63), exchange("bar.sync 0;", 63), "shared memory that .*");
    expect_fault(exchange("bar.warp.sync -1;", 32), exchange("bar.sync 0;", 32), "shared memory that .*");
    expect_fault(exchange("", 1), exchange("bar.warp.sync -1;", 1), "shared memory that .*");
  }
}

TEST_F(PtxFaultsDeathTest, ABarrierThatNotAllLanesReach) {
  const std::string right =
      probe(own_elements + "setp.eq.u32 %p1, %r1, 99; @%p1 bra $end; bar.warp.sync -1;\n$end:\nbar.sync 0;");
  expect_fault(replaced(right, "99", "3"), right, "lane 0 of warp 0 waits at __syncwarp .* for lanes 0x00000008");
}

TEST_F(PtxFaultsDeathTest, AShuffleFromALaneThatDoesNotTakePart) {
  const std::string right = probe(own_elements + "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; st.global.u32 [%rd1], %r2;");
  expect_fault(replaced(right, "shfl", "setp.eq.u32 %p1, %r1, 3; @%p1 ret; shfl"), right,
               "lane 2 takes the value of lane 3, which does not take part");
}

TEST_F(PtxFaultsDeathTest, AMissingLaunchOfAsManyThreads) {
  const std::string bounded = replaced(probe(""), "c)\n{", "c)\n.maxntid 32, 1, 1\n{");
  EXPECT_ERROR("PTX: a block of 64 threads, but probe is compiled for 32", launch_probe(bounded, threads, {}));
}

TEST(PtxCounts, AreThoseOfWhatThreadsExecuted) {
  const std::string text = probe(own_elements +
                                 "setp.gt.u32 %p1, %r1, 9; @%p1 ret; ld.global.v2.u32 {%r2, %r3}, [%rd5];"
                                 "div.u32 %r2, %r2, 3; rem.s64 %rd8, %rd7, 5; st.global.u16 [%rd1], %rs1;");
  std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(std::make_unique<Module>(text));
  modules.push_back(std::make_unique<Module>(replaced(text, "probe", "other")));
  const auto counts = [&] {
    std::ostringstream out;
    write_counts(out, modules);
    return out.str().substr(out.str().find('\n') + 1);
  };
  EXPECT_EQ(counts(), "0 0 0 0 0 0 0 0 probe\n0 0 0 0 0 0 0 0 other\n");
  launch_probe(*modules[0], threads, {zeros(256), zeros(256), zeros(256)});
  // 9 instructions before the comparison, and the guard of `ret` holds for 54 threads.
  EXPECT_EQ(counts(),
            "1 64 " + std::to_string(64 * 10 + 54 + 10 * 5) + " 10 80 10 20 20 probe\n0 0 0 0 0 0 0 0 other\n");
}

TEST(PtxModule, NamesAnInstructionThatItDoesNotKnow) {
  EXPECT_ERROR(AllOf(HasSubstr("PTX of probe: "), HasSubstr("the instruction 'wgmma.fence.sync.aligned'")),
               launch_probe(probe("wgmma.fence.sync.aligned;"), 1, {}));
  EXPECT_ERROR(HasSubstr("the instruction 'atom.global.add.u32 %r1, [%rd1], %r2'"),
               launch_probe(probe("atom.global.add.u32 %r1, [%rd1], %r2;"), 1, {}));
  EXPECT_ERROR(HasSubstr("two results of 'setp.eq.s32 %p1|%p2, %r1, %r2'"),
               launch_probe(probe("setp.eq.s32 %p1|%p2, %r1, %r2;"), 1, {}));
  EXPECT_ERROR(HasSubstr("the operand '%clock'"), launch_probe(probe("mov.u32 %r1, %clock;"), 1, {}));
  const std::string callee = ".func other()\n{\nwgmma.fence.sync.aligned;\n}\n";
  EXPECT_ERROR(HasSubstr("PTX of other: "), launch_probe(probe("call.uni other;", callee), 1, {}));
  EXPECT_ERROR(HasSubstr("a jump to '$nowhere'"), launch_probe(probe("bra $nowhere;"), 1, {}));
}

TEST(PtxModule, NamesAVersionThatItDoesNotKnow) {
  EXPECT_ERROR("PTX 8.7: the interpreter knows version 9", Module(".version 8.7\n.target sm_90\n"));
  EXPECT_ERROR("PTX: the file does not begin with .version", Module("\x7F"
                                                                    "ELF"));
  EXPECT_ERROR("PTX: '.alias' outside of functions is not known", Module(std::string(header) + ".alias a, b;"));
  EXPECT_ERROR("PTX: there is no kernel other", Module(probe("")).function("other"));
  EXPECT_ERROR("a body without its closing brace", Module(std::string(header) + ".entry probe() { ret;"));
}

TEST(PtxModule, KnowsAKernelInWhateverCompilation) {
  const char* const first = "_ZN2gb50_GLOBAL__N__c1b94913_17_gradient_norms_cu_d4bff8374runEv";
  const char* const second = "_ZN2gb50_GLOBAL__N__0a1b2c3d_17_gradient_norms_cu_000000014runEv";
  EXPECT_EQ(plain_name(first), plain_name(second));
  EXPECT_NE(plain_name(first), plain_name("_ZN2gb50_GLOBAL__N__c1b94913_17_gradient_norms_cu_d4bff8374runEi"));
  EXPECT_EQ(plain_name("_Z5otherv"), "_Z5otherv");
}

}  // namespace
}  // namespace gpubench::ptx
