// What moves and combines bits: logic, shifts, fields, permutations of bytes.
#include <algorithm>
#include <bit>
#include <limits>

#include "tests/support/ptx/opcodes.h"

namespace gpubench::ptx {
namespace {

struct Same {
  template <class T>
  T operator()(T a) const {
    return a;
  }
};
struct And {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct ExclusiveOr {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
  bool operator()(bool a) const { return !a; }
};

template <class T>
constexpr unsigned width = sizeof(T) * 8;

/// By as many bits as an operand of 32 bits says; more than the type has shift everything out.
template <class T>
void shift_left(Thread& thread, const Instruction& at) {
  const auto by = get<std::uint32_t>(thread, at.from[1]);
  const auto x = std::uint64_t{get<T>(thread, at.from[0])};
  set(thread, at.to[0], static_cast<T>(by >= width<T> ? 0 : x << by));
}
template <class T>
void shift_right(Thread& thread, const Instruction& at) {
  const auto by = get<std::uint32_t>(thread, at.from[1]);
  const T x = get<T>(thread, at.from[0]);
  const T beyond = static_cast<T>(x < 0 ? -1 : 0);
  set(thread, at.to[0], by >= width<T> ? beyond : static_cast<T>(x >> by));
}

/// The upper or lower 32 bits of two registers' 64 that are shifted left or right. variant: clamp the distance at 32.
template <bool left>
void funnel_shift(Thread& thread, const Instruction& at) {
  const auto low = get<std::uint32_t>(thread, at.from[0]);
  const std::uint64_t both = std::uint64_t{get<std::uint32_t>(thread, at.from[1])} << 32 | low;
  const auto asked = get<std::uint32_t>(thread, at.from[2]);
  const std::uint32_t by = at.variant != 0 ? std::min(asked, 32U) : asked & 31U;
  set(thread, at.to[0], static_cast<std::uint32_t>(left ? both << by >> 32 : both >> by));
}

template <class T>
void select(Thread& thread, const Instruction& at) {
  set(thread, at.to[0], get<T>(thread, at.from[get<bool>(thread, at.from[2]) ? 0 : 1]));
}

/// A field of `count` bits from bit `begin`, with the sign of its uppermost bit in signed types.
template <class T>
void extract_field(Thread& thread, const Instruction& at) {
  const T x = get<T>(thread, at.from[0]);
  const auto begin = get<std::uint8_t>(thread, at.from[1]), count = get<std::uint8_t>(thread, at.from[2]);
  const unsigned end = std::min<unsigned>(begin + count, width<T>);
  if (count == 0) return set(thread, at.to[0], T{});
  if (begin >= width<T>) return set(thread, at.to[0], static_cast<T>(x < 0 ? -1 : 0));
  set(thread, at.to[0], static_cast<T>(static_cast<T>(x << (width<T> - end)) >> (width<T> - end + begin)));
}
template <class T>
void insert_field(Thread& thread, const Instruction& at) {
  const auto begin = get<std::uint8_t>(thread, at.from[2]), count = get<std::uint8_t>(thread, at.from[3]);
  const T ones = count >= width<T> ? static_cast<T>(~T{}) : static_cast<T>((T{1} << count) - 1);
  const T mask = begin >= width<T> ? T{} : static_cast<T>(ones << begin);
  const T field = begin >= width<T> ? T{} : static_cast<T>(get<T>(thread, at.from[0]) << begin);
  set(thread, at.to[0], static_cast<T>((get<T>(thread, at.from[1]) & ~mask) | (field & mask)));
}

/// The uppermost bit that is set, or that differs from the sign; all ones if there is none.
template <class T>
void find_bit(Thread& thread, const Instruction& at) {
  T x = get<T>(thread, at.from[0]);
  if (x < 0) x = static_cast<T>(~x);
  const auto zeros = static_cast<unsigned>(std::countl_zero(static_cast<std::make_unsigned_t<T>>(x)));
  const unsigned place = at.variant != 0 ? zeros : width<T> - 1 - zeros;
  set(thread, at.to[0], x == 0 ? ~0U : place);
}

struct LeadingZeros {
  template <class T>
  std::uint32_t operator()(T a) const {
    return static_cast<std::uint32_t>(std::countl_zero(a));
  }
};
struct Ones {
  template <class T>
  std::uint32_t operator()(T a) const {
    return static_cast<std::uint32_t>(std::popcount(a));
  }
};
struct Reversed {
  template <class T>
  T operator()(T a) const {
    T result = 0;
    for (unsigned bit = 0; bit < width<T>; ++bit) result = static_cast<T>(result << 1 | (a >> bit & 1U));
    return result;
  }
};

/// Each byte is one of the eight bytes of two registers, or its sign.
void permute(Thread& thread, const Instruction& at) {
  const auto low = get<std::uint32_t>(thread, at.from[0]);
  const std::uint64_t both = std::uint64_t{get<std::uint32_t>(thread, at.from[1])} << 32 | low;
  const auto chosen = get<std::uint32_t>(thread, at.from[2]);
  std::uint32_t result = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    const std::uint32_t which = chosen >> 4 * byte & 15U;
    const auto value = static_cast<std::uint32_t>(both >> 8 * (which & 7U) & 255U);
    const std::uint32_t sign = (value & 128U) != 0 ? 255U : 0U;
    result |= ((which & 8U) != 0 ? sign : value) << 8 * byte;
  }
  set(thread, at.to[0], result);
}

/// Any function of three bits, bit by bit: the fourth operand has its value for each of the eight inputs.
void combine_three(Thread& thread, const Instruction& at) {
  const auto a = get<std::uint32_t>(thread, at.from[0]), b = get<std::uint32_t>(thread, at.from[1]);
  const auto c = get<std::uint32_t>(thread, at.from[2]), values = get<std::uint32_t>(thread, at.from[3]);
  std::uint32_t result = 0;
  for (unsigned input = 0; input < 8; ++input) {
    if ((values >> input & 1U) == 0) continue;
    result |= ((input & 4U) != 0 ? a : ~a) & ((input & 2U) != 0 ? b : ~b) & ((input & 1U) != 0 ? c : ~c);
  }
  set(thread, at.to[0], result);
}

/// A register of as many bits as the registers of a vector have together.
template <class Whole, class Part>
void split(Thread& thread, const Instruction& at) {
  const auto whole = get<Whole>(thread, at.from[0]);
  for (unsigned i = 0; i < sizeof(Whole) / sizeof(Part); ++i) {
    set(thread, at.to[i], static_cast<Part>(whole >> width<Part> * i));
  }
}
template <class Whole, class Part>
void join(Thread& thread, const Instruction& at) {
  Whole whole = 0;
  for (unsigned i = 0; i < sizeof(Whole) / sizeof(Part); ++i) {
    whole |= static_cast<Whole>(get<Part>(thread, at.from[i])) << width<Part> * i;
  }
  set(thread, at.to[0], whole);
}

template <class... Types>
void add_selections(Opcodes& all) {
  (all.add(with_type("selp", Types::name), {&select<typename Types::Value>}), ...);
}

template <class... Types>
void add_shifts(Opcodes& all) {
  (all.add(with_type("shr", Types::name), {&shift_right<typename Types::Value>}), ...);
}

}  // namespace

void add_bit_opcodes(Opcodes& all) {
  add_unary<Same, B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64, Predicate>(all, "mov");
  all.add("mov.b32 to vector of 2", {&split<std::uint32_t, std::uint16_t>});
  all.add("mov.b32 from vector of 2", {&join<std::uint32_t, std::uint16_t>});
  all.add("mov.b64 to vector of 2", {&split<std::uint64_t, std::uint32_t>});
  all.add("mov.b64 from vector of 2", {&join<std::uint64_t, std::uint32_t>});
  all.add("mov.b64 to vector of 4", {&split<std::uint64_t, std::uint16_t>});
  all.add("mov.b64 from vector of 4", {&join<std::uint64_t, std::uint16_t>});
  add_selections<B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64>(all);
  add_binary<And, B16, B32, B64, Predicate>(all, "and");
  add_binary<Or, B16, B32, B64, Predicate>(all, "or");
  add_binary<ExclusiveOr, B16, B32, B64, Predicate>(all, "xor");
  add_unary<Not, B16, B32, B64, Predicate>(all, "not");
  all.add("shl.b16", {&shift_left<std::uint16_t>});
  all.add("shl.b32", {&shift_left<std::uint32_t>});
  all.add("shl.b64", {&shift_left<std::uint64_t>});
  add_shifts<B16, B32, B64, U16, U32, U64, S16, S32, S64>(all);
  all.add("shf.l.wrap.b32", {&funnel_shift<true>, 0});
  all.add("shf.r.wrap.b32", {&funnel_shift<false>, 0});
  all.add("shf.l.clamp.b32", {&funnel_shift<true>, 1});
  all.add("shf.r.clamp.b32", {&funnel_shift<false>, 1});
  all.add("bfe.u32", {&extract_field<std::uint32_t>});
  all.add("bfe.s32", {&extract_field<std::int32_t>});
  all.add("bfe.u64", {&extract_field<std::uint64_t>});
  all.add("bfe.s64", {&extract_field<std::int64_t>});
  all.add("bfi.b32", {&insert_field<std::uint32_t>});
  all.add("bfi.b64", {&insert_field<std::uint64_t>});
  all.add("bfind.u32", {&find_bit<std::uint32_t>, 0});
  all.add("bfind.s32", {&find_bit<std::int32_t>, 0});
  all.add("bfind.u64", {&find_bit<std::uint64_t>, 0});
  all.add("bfind.shiftamt.u32", {&find_bit<std::uint32_t>, 1});
  add_unary<LeadingZeros, B32, B64>(all, "clz");
  add_unary<Ones, B32, B64>(all, "popc");
  add_unary<Reversed, B32, B64>(all, "brev");
  all.add("prmt.b32", {&permute});
  all.add("lop3.b32", {&combine_three});
}

}  // namespace gpubench::ptx
