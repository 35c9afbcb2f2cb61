// Single instructions of PTX against results that are written down: where types, rounding and edges matter.
#include <bit>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <limits>
#include <ostream>
#include <string>

#include "tests/core/backend/cuda/ptx_probe.h"

namespace gpubench::ptx {
namespace {

std::uint64_t of(float x) {
  return std::bit_cast<std::uint32_t>(x);
}
std::uint64_t of(double x) {
  return std::bit_cast<std::uint64_t>(x);
}
std::uint64_t of(std::int32_t x) {
  return static_cast<std::uint32_t>(x);
}

constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
constexpr std::uint64_t nan_of_gpu = 0x7FFFFFFF, ones = 0xFFFFFFFF;

/// `instruction` with registers of the number 1, 2 and 3 that hold the low bits of a, b and c (%p1: whether a is not
/// 0); its result in one of the number 4.
struct Row {
  std::string instruction;
  std::uint64_t a, b, c, expected;
  friend std::ostream& operator<<(std::ostream& out, const Row& row) { return out << row.instruction; }
};

/// As it stores the register that the instruction names first.
std::string store_of(const std::string& instruction) {
  if (instruction.find("%fd4") != std::string::npos) return "st.global.f64 [%rd8], %fd4;";
  if (instruction.find("%rd4") != std::string::npos) return "st.global.u64 [%rd8], %rd4;";
  if (instruction.find("%rs4") != std::string::npos) return "st.global.u16 [%rd8], %rs4;";
  if (instruction.find("%f4") != std::string::npos) return "st.global.f32 [%rd8], %f4;";
  if (instruction.find("%p4") != std::string::npos) return "selp.u32 %r4, 1, 0, %p4; st.global.u32 [%rd8], %r4;";
  return "st.global.u32 [%rd8], %r4;";
}

std::string operands() {
  std::string text = "ld.param.u64 %rd8, [out];\n";
  for (const char* const each : {"a1", "b2", "c3"}) {
    const std::string parameter(each, 1), number(each + 1);
    text += "ld.param.u64 %rd" + number + ", [" + parameter + "]; cvt.u32.u64 %r" + number + ", %rd" + number +
            "; cvt.u16.u64 %rs" + number + ", %rd" + number + "; mov.b32 %f" + number + ", %r" + number +
            "; mov.b64 %fd" + number + ", %rd" + number + "; setp.ne.s64 %p" + number + ", %rd" + number + ", 0;\n";
  }
  return text;
}

std::uint64_t result_of(const Row& row) {
  const std::uint64_t out = zeros(sizeof(std::uint64_t));
  launch_probe(probe(operands() + row.instruction + ";\n" + store_of(row.instruction)), 1, {out, row.a, row.b, row.c});
  std::uint64_t result = 0;
  EXPECT_EQ(cudaMemcpy(&result, reinterpret_cast<void*>(out), sizeof result, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(cudaFree(reinterpret_cast<void*>(out)), cudaSuccess);
  return result;
}

class PtxOpcodes : public testing::TestWithParam<Row> {};

TEST_P(PtxOpcodes, Compute) {
  EXPECT_EQ(result_of(GetParam()), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Integers, PtxOpcodes,
    testing::Values(
        Row{"add.s32 %r4, %r1, %r2", of(-1), 3, 0, 2}, Row{"sub.u16 %rs4, %rs1, %rs2", 1, 2, 0, 0xFFFF},
        Row{"mul.lo.s64 %rd4, %rd1, %rd2", 1ULL << 40, 1ULL << 23, 0, 1ULL << 63},
        Row{"mul.hi.u32 %r4, %r1, %r2", ones, ones, 0, 0xFFFFFFFE},
        Row{"mul.hi.s32 %r4, %r1, %r2", of(-1), of(-1), 0, 0}, Row{"mul.hi.s32 %r4, %r1, %r2", of(-2), 3, 0, ones},
        Row{"mul.hi.u64 %rd4, %rd1, %rd2", ~0ULL, ~0ULL, 0, ~1ULL},
        Row{"mul.hi.s64 %rd4, %rd1, %rd2", ~0ULL, 5, 0, ~0ULL},
        Row{"mul.wide.s32 %rd4, %r1, %r2", of(-2), 3, 0, static_cast<std::uint64_t>(-6)},
        Row{"mul.wide.u32 %rd4, %r1, %r2", ones, 2, 0, 0x1FFFFFFFE},
        Row{"mul.wide.s16 %r4, %rs1, %rs2", 0xFFFF, 3, 0, of(-3)},
        Row{"mad.lo.s32 %r4, %r1, %r2, %r3", of(-2), 3, 7, 1},
        Row{"mad.wide.s32 %rd4, %r1, %r2, %rd3", of(-2), 3, 7, 1}, Row{"div.s32 %r4, %r1, %r2", of(-7), 2, 0, of(-3)},
        Row{"div.u32 %r4, %r1, %r2", 7, 0, 0, ones}, Row{"div.s32 %r4, %r1, %r2", 0x80000000, of(-1), 0, 0x80000000},
        Row{"rem.s64 %rd4, %rd1, %rd2", static_cast<std::uint64_t>(-7), 4, 0, static_cast<std::uint64_t>(-3)},
        Row{"rem.u32 %r4, %r1, %r2", 7, 0, 0, 7}, Row{"neg.s16 %rs4, %rs1", 5, 0, 0, 0xFFFB},
        Row{"abs.s32 %r4, %r1", of(-9), 0, 0, 9}, Row{"min.s32 %r4, %r1, %r2", of(-1), 1, 0, of(-1)},
        Row{"min.u32 %r4, %r1, %r2", of(-1), 1, 0, 1}, Row{"max.u64 %rd4, %rd1, %rd2", ~0ULL, 1, 0, ~0ULL}));

INSTANTIATE_TEST_SUITE_P(
    Words, PtxOpcodes,
    testing::Values(Row{"add.cc.u32 %r5, %r1, %r2; addc.u32 %r4, %r3, 0", ones, 1, 7, 8},
                    Row{"add.cc.u32 %r5, %r1, %r2; addc.cc.u32 %r6, %r3, 0; addc.u32 %r4, 0, 0", ones, 1, ones, 1},
                    Row{"sub.cc.u32 %r5, %r1, %r2; subc.u32 %r4, %r3, 2", 0, 1, 7, 4},
                    Row{"mad.lo.cc.u32 %r5, %r1, %r2, 1; madc.hi.u32 %r4, %r1, %r2, %r3", ones, ones, 7, 5},
                    Row{"mad.lo.cc.u32 %r5, %r1, %r1, %r2; madc.hi.u32 %r4, %r1, %r1, 0", 0xFFFF, 0x1FFFF, 0, 1}));

INSTANTIATE_TEST_SUITE_P(
    Bits, PtxOpcodes,
    testing::Values(
        Row{"shl.b32 %r4, %r1, %r2", 3, 31, 0, 0x80000000}, Row{"shl.b32 %r4, %r1, %r2", 3, 32, 0, 0},
        Row{"shr.s32 %r4, %r1, %r2", 0x80000000, 40, 0, ones}, Row{"shr.u32 %r4, %r1, %r2", 0x80000000, 31, 0, 1},
        Row{"shr.u16 %rs4, %rs1, %r2", 0x8000, 15, 0, 1}, Row{"shr.s64 %rd4, %rd1, %r2", 1ULL << 63, 63, 0, ~0ULL},
        Row{"shf.l.wrap.b32 %r4, %r1, %r2, %r3", 0x80000000, 1, 33, 3},
        Row{"shf.r.wrap.b32 %r4, %r1, %r2, %r3", 0x80000000, 1, 31, 3},
        Row{"shf.r.clamp.b32 %r4, %r1, %r2, %r3", 5, 6, 99, 6}, Row{"shf.l.clamp.b32 %r4, %r1, %r2, %r3", 5, 6, 32, 5},
        Row{"bfe.u32 %r4, %r1, %r2, %r3", 0xABCD, 4, 8, 0xBC},
        Row{"bfe.s32 %r4, %r1, %r2, %r3", 0xABCD, 4, 8, 0xFFFFFFBC},
        Row{"bfe.s32 %r4, %r1, %r2, %r3", 0x80000000, 28, 20, 0xFFFFFFF8},
        Row{"bfe.u32 %r4, %r1, %r2, %r3", 7, 0, 0, 0}, Row{"bfi.b32 %r4, %r1, %r2, 8, 4", 0x5, ones, 0, 0xFFFFF5FF},
        Row{"bfind.u32 %r4, %r1", 0x100, 0, 0, 8}, Row{"bfind.s32 %r4, %r1", of(-1), 0, 0, ones},
        Row{"bfind.shiftamt.u32 %r4, %r1", 0x100, 0, 0, 23}, Row{"clz.b32 %r4, %r1", 1, 0, 0, 31},
        Row{"clz.b64 %r4, %rd1", 0, 0, 0, 64}, Row{"popc.b64 %r4, %rd1", ~0ULL, 0, 0, 64},
        Row{"brev.b32 %r4, %r1", 6, 0, 0, 0x60000000},
        Row{"prmt.b32 %r4, %r1, %r2, 0x7530", 0x33221100, 0x77665544, 0, 0x77553300},
        Row{"prmt.b32 %r4, %r1, %r2, 0x9B80", 0x80AA70FF, 0, 0, 0x00FFFFFF},
        Row{"lop3.b32 %r4, %r1, %r2, %r3, 0x96", 12, 10, 6, 12 ^ 10 ^ 6},
        Row{"lop3.b32 %r4, %r1, %r2, %r3, 0xCA", 0xF0, 0xAA, 0x55, 0xA5},
        Row{"selp.b32 %r4, %r2, %r3, %p1", 0, 5, 6, 6}, Row{"not.pred %p4, %p1", 0, 0, 0, 1},
        Row{"xor.pred %p4, %p1, %p2", 2, 3, 0, 0}, Row{"mov.b32 {%rs5, %rs4}, %r1", 0x12345678, 0, 0, 0x1234},
        Row{"mov.b64 %rd4, {%r1, %r2}", 0x12345678, 0x9ABCDEF0, 0, 0x9ABCDEF012345678}));

INSTANTIATE_TEST_SUITE_P(
    Floats, PtxOpcodes,
    testing::Values(Row{"fma.rn.f32 %f4, %f1, %f2, %f3", of(0x1.000002p0F), of(0x1.000002p0F), of(-0x1.000004p0F),
                        of(0x1p-46F)},
                    Row{"add.rz.f32 %f4, %f1, %f2", of(1.0F), of(-0x1p-60F), 0, of(0x1.fffffep-1F)},
                    Row{"mul.rp.f32 %f4, %f1, %f2", of(0x1.000002p0F), of(0x1.000002p0F), 0, of(0x1.000006p0F)},
                    Row{"div.rn.f32 %f4, %f1, %f2", of(1.0F), of(3.0F), 0, 0x3EAAAAAB},
                    Row{"div.rn.f32 %f4, %f1, %f2", 0, 0, 0, nan_of_gpu},
                    Row{"rcp.rn.f32 %f4, %f1", of(-0.0F), 0, 0, of(-infinity)},
                    Row{"sqrt.rn.f32 %f4, %f1", of(2.0F), 0, 0, 0x3FB504F3},
                    Row{"min.f32 %f4, %f1, %f2", of(nan), of(2.0F), 0, of(2.0F)},
                    Row{"max.f32 %f4, %f1, %f2", of(2.0F), of(nan), 0, of(2.0F)},
                    Row{"max.NaN.f32 %f4, %f1, %f2", of(2.0F), of(nan), 0, nan_of_gpu},
                    Row{"min.f32 %f4, %f1, %f2", of(0.0F), of(-0.0F), 0, of(-0.0F)},
                    Row{"max.f32 %f4, %f1, %f2", of(-0.0F), of(0.0F), 0, of(0.0F)},
                    Row{"add.ftz.f32 %f4, %f1, %f2", 1, of(-0.0F), 0, 0},
                    Row{"mul.f32 %f4, %f1, %f2", 1, of(2.0F), 0, 2}, Row{"neg.f32 %f4, %f1", 0, 0, 0, of(-0.0F)},
                    Row{"copysign.f32 %f4, %f1, %f2", of(-1.0F), of(3.0F), 0, of(-3.0F)},
                    Row{"ex2.approx.ftz.f32 %f4, %f1", of(-3.0F), 0, 0, of(0.125F)},
                    Row{"ex2.approx.ftz.f32 %f4, %f1", of(-130.0F), 0, 0, 0},
                    Row{"lg2.approx.ftz.f32 %f4, %f1", of(8.0F), 0, 0, of(3.0F)},
                    Row{"rsqrt.approx.f32 %f4, %f1", of(4.0F), 0, 0, of(0.5F)},
                    Row{"rcp.approx.ftz.f64 %fd4, %fd1", of(3.0), 0, 0, 0x3FD5555500000000},
                    Row{"fma.rn.f64 %fd4, %fd1, %fd2, %fd3", of(3.0), of(5.0), of(-1.0), of(14.0)},
                    Row{"setp.ne.f32 %p4, %f1, %f2", of(nan), of(1.0F), 0, 0},
                    Row{"setp.neu.f32 %p4, %f1, %f2", of(nan), of(1.0F), 0, 1},
                    Row{"setp.leu.f32 %p4, %f1, %f2", of(2.0F), of(1.0F), 0, 0},
                    Row{"setp.nan.f32 %p4, %f1, %f1", of(nan), 0, 0, 1},
                    Row{"setp.lt.and.f32 %p4, %f1, %f2, %p3", of(1.0F), of(2.0F), 0, 0},
                    Row{"setp.lt.or.s32 %p4, %r1, %r2, %p3", 2, 1, 1, 1}));

INSTANTIATE_TEST_SUITE_P(
    Conversions, PtxOpcodes,
    testing::Values(
        Row{"cvt.s64.s32 %rd4, %r1", of(-1), 0, 0, ~0ULL}, Row{"cvt.u64.u32 %rd4, %r1", ones, 0, 0, ones},
        Row{"cvt.s32.s8 %r4, %r1", 0x1FF, 0, 0, ones}, Row{"cvt.u32.u8 %r4, %r1", 0x1FF, 0, 0, 0xFF},
        Row{"cvt.sat.s8.s32 %r4, %r1", 200, 0, 0, 127}, Row{"cvt.sat.u8.s32 %r4, %r1", of(-5), 0, 0, 0},
        Row{"cvt.rni.s32.f32 %r4, %f1", of(2.5F), 0, 0, 2}, Row{"cvt.rni.s32.f32 %r4, %f1", of(3.5F), 0, 0, 4},
        Row{"cvt.rzi.s32.f32 %r4, %f1", of(-2.7F), 0, 0, of(-2)},
        Row{"cvt.rmi.s32.f32 %r4, %f1", of(-2.2F), 0, 0, of(-3)},
        Row{"cvt.rzi.s32.f32 %r4, %f1", of(3e9F), 0, 0, 0x7FFFFFFF},
        Row{"cvt.rzi.u32.f32 %r4, %f1", of(-1.0F), 0, 0, 0}, Row{"cvt.rzi.s32.f32 %r4, %f1", of(nan), 0, 0, 0},
        Row{"cvt.rzi.s64.f64 %rd4, %fd1", of(-1e15), 0, 0, static_cast<std::uint64_t>(-1'000'000'000'000'000)},
        Row{"cvt.rni.f32.f32 %f4, %f1", of(-0.5F), 0, 0, of(-0.0F)},
        Row{"cvt.rn.f32.s32 %f4, %r1", 16777217, 0, 0, of(16777216.0F)},
        Row{"cvt.rn.f32.u64 %f4, %rd1", ~0ULL, 0, 0, of(0x1p64F)},
        Row{"cvt.rn.f32.f64 %f4, %fd1", of(0.1), 0, 0, of(0.1F)},
        Row{"cvt.rz.f32.f64 %f4, %fd1", of(1.0 - 0x1p-40), 0, 0, of(0x1.fffffep-1F)},
        Row{"cvt.f32.f16 %f4, %rs1", 0x3555, 0, 0, of(0x1.554p-2F)},
        Row{"cvt.f32.f16 %f4, %rs1", 1, 0, 0, of(0x1p-24F)},
        Row{"cvt.rn.f16.f32 %rs4, %f1", of(65520.0F), 0, 0, 0x7C00},
        Row{"cvt.rn.f16.f32 %rs4, %f1", of(0x1p-25F), 0, 0, 0},
        Row{"cvt.rn.bf16.f32 %rs4, %f1", 0x3F808000, 0, 0, 0x3F80},
        Row{"cvt.rn.bf16.f32 %rs4, %f1", 0x3F818000, 0, 0, 0x3F82},
        Row{"cvt.rn.bf16x2.f32 %r4, %f1, %f2", of(1.0F), of(-2.0F), 0, 0x3F80C000},
        Row{"cvt.sat.f32.f32 %f4, %f1", of(1.5F), 0, 0, of(1.0F)}));

TEST(PtxControl, LoopsCallsAndPredicates) {
  const std::string square =
      ".func (.param .b32 result) square(.param .b32 x)\n{\n.reg .b32 %r<3>;\nld.param.u32 %r1, [x];\n"
      "mul.lo.s32 %r2, %r1, %r1;\nst.param.b32 [result], %r2;\nret;\n}\n";
  // The sum of the squares of 1 to a.
  const std::string sum = probe(
      "ld.param.u32 %r1, [a]; mov.u32 %r2, 0;\n$next:\n"
      "{ .param .b32 argument; .param .b32 value; st.param.b32 [argument], %r1; call.uni (value), square, (argument);"
      "ld.param.b32 %r3, [value]; }\n"
      "add.s32 %r2, %r2, %r3; add.s32 %r1, %r1, -1; setp.gt.s32 %p1, %r1, 0;\n@%p1 bra $next;\n@!%p1 add.s32 %r2, %r2, 100;"
      "ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], %r2;",
      square);
  const std::uint64_t out = zeros(sizeof(std::uint32_t));
  launch_probe(sum, 1, {out, 4});
  std::uint32_t result = 0;
  ASSERT_EQ(cudaMemcpy(&result, reinterpret_cast<void*>(out), sizeof result, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(result, 1 + 4 + 9 + 16 + 100U);
}

TEST(PtxControl, ConstantsAndLocalMemory) {
  const std::string table = ".const .align 4 .b8 table[8] = {1, 0, 0, 0, 255, 1};\n";
  const std::string text = probe(
      ".local .align 8 .b8 own[16];\nmov.u64 %rd1, own; cvta.local.u64 %rd2, %rd1; mov.u64 %rd3, table;\n"
      "ld.const.u32 %r1, [%rd3+4]; st.u32 [%rd2+8], %r1; ld.local.u32 %r2, [%rd1+8];"
      "ld.param.u64 %rd4, [out]; st.global.u32 [%rd4], %r2;",
      table);
  const std::uint64_t out = zeros(sizeof(std::uint32_t));
  launch_probe(text, 1, {out});
  std::uint32_t result = 0;
  ASSERT_EQ(cudaMemcpy(&result, reinterpret_cast<void*>(out), sizeof result, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(result, 511U);
}

}  // namespace
}  // namespace gpubench::ptx
