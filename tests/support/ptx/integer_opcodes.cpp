// Arithmetic of integers. It wraps around, and a division by zero gives all ones, as on a GPU.
#include <limits>
#include <type_traits>

#include "tests/support/ptx/opcodes.h"

namespace gpubench::ptx {
namespace {

/// In a type whose overflow C++ defines, and that is not promoted to int.
template <class T>
std::uint64_t wide(T x) {
  return static_cast<std::uint64_t>(x);
}

struct IntegerAdd {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(wide(a) + wide(b));
  }
};
struct IntegerSubtract {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(wide(a) - wide(b));
  }
};
struct MultiplyLow {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(wide(a) * wide(b));
  }
};
struct MultiplyAddLow {
  template <class T>
  T operator()(T a, T b, T c) const {
    return static_cast<T>(wide(a) * wide(b) + wide(c));
  }
};

__extension__ using Signed128 = __int128;
__extension__ using Unsigned128 = unsigned __int128;
template <class T>
using Wider = std::conditional_t<std::is_signed_v<T>, Signed128, Unsigned128>;

struct MultiplyHigh {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wider<T>>(a) * static_cast<Wider<T>>(b) >> std::numeric_limits<T>::digits >>
                          (std::is_signed_v<T> ? 1 : 0));
  }
};

/// The result has twice as many bits.
template <class T>
using Twice = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
template <class T>
Twice<T> product(T a, T b) {
  const Twice<T> whole = static_cast<Twice<T>>(a) * static_cast<Twice<T>>(b);
  if constexpr (sizeof(T) == sizeof(std::int16_t)) {
    using Result = std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>;
    return static_cast<Result>(whole);
  } else {
    return whole;
  }
}
struct MultiplyWide {
  template <class T>
  Twice<T> operator()(T a, T b) const {
    return product(a, b);
  }
};
template <class T>
void multiply_add_wide(Thread& thread, const Instruction& at) {
  const Twice<T> whole = product(get<T>(thread, at.from[0]), get<T>(thread, at.from[1]));
  const auto sum = static_cast<Twice<T>>(wide(whole) + wide(get<Twice<T>>(thread, at.from[2])));
  if constexpr (sizeof(T) == sizeof(std::int16_t)) {
    using Result = std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>;
    set(thread, at.to[0], static_cast<Result>(sum));
  } else {
    set(thread, at.to[0], sum);
  }
}

struct IntegerDivide {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(~T{});
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return IntegerSubtract{}(T{}, a);
    }
    return static_cast<T>(a / b);
  }
};
struct Remainder {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    return static_cast<T>(a % b);
  }
};
struct IntegerAbsolute {
  template <class T>
  T operator()(T a) const {
    return a < 0 ? IntegerSubtract{}(T{}, a) : a;
  }
};
struct IntegerNegative {
  template <class T>
  T operator()(T a) const {
    return IntegerSubtract{}(T{}, a);
  }
};
struct IntegerMinimum {
  template <class T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct IntegerMaximum {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

/// Words of 32 bits of longer numbers. `takes`: the carry of the words below; `gives` one to those above.
template <bool gives>
void set_with_carry(Thread& thread, const Instruction& at, std::uint64_t sum) {
  if constexpr (gives) thread.carry = (sum >> 32 & 1U) != 0;
  set(thread, at.to[0], static_cast<std::uint32_t>(sum));
}
template <bool takes, bool gives>
void add_word(Thread& thread, const Instruction& at) {
  const std::uint64_t carry = takes && thread.carry ? 1 : 0;
  const std::uint64_t a = get<std::uint32_t>(thread, at.from[0]);
  set_with_carry<gives>(thread, at, a + get<std::uint32_t>(thread, at.from[1]) + carry);
}
template <bool takes, bool gives>
void subtract_word(Thread& thread, const Instruction& at) {
  const std::uint64_t borrow = takes && thread.carry ? 1 : 0;
  const std::uint64_t a = get<std::uint32_t>(thread, at.from[0]);
  set_with_carry<gives>(thread, at, a - get<std::uint32_t>(thread, at.from[1]) - borrow);
}
template <bool upper, bool takes, bool gives>
void multiply_add_word(Thread& thread, const Instruction& at) {
  const std::uint64_t carry = takes && thread.carry ? 1 : 0;
  const std::uint64_t whole = product(get<std::uint32_t>(thread, at.from[0]), get<std::uint32_t>(thread, at.from[1]));
  const std::uint64_t part = upper ? whole >> 32 : whole & 0xFFFFFFFFU;
  set_with_carry<gives>(thread, at, part + get<std::uint32_t>(thread, at.from[2]) + carry);
}

void add_words(Opcodes& all) {
  all.add("add.cc.u32", {&add_word<false, true>});
  all.add("addc.cc.u32", {&add_word<true, true>});
  all.add("addc.u32", {&add_word<true, false>});
  all.add("sub.cc.u32", {&subtract_word<false, true>});
  all.add("subc.cc.u32", {&subtract_word<true, true>});
  all.add("subc.u32", {&subtract_word<true, false>});
  all.add("mad.lo.cc.u32", {&multiply_add_word<false, false, true>});
  all.add("mad.hi.cc.u32", {&multiply_add_word<true, false, true>});
  all.add("madc.lo.cc.u32", {&multiply_add_word<false, true, true>});
  all.add("madc.hi.cc.u32", {&multiply_add_word<true, true, true>});
  all.add("madc.lo.u32", {&multiply_add_word<false, true, false>});
  all.add("madc.hi.u32", {&multiply_add_word<true, true, false>});
}

}  // namespace

void add_integer_opcodes(Opcodes& all) {
  add_words(all);
  add_binary<IntegerAdd, U16, U32, U64, S16, S32, S64>(all, "add");
  add_binary<IntegerSubtract, U16, U32, U64, S16, S32, S64>(all, "sub");
  add_binary<MultiplyLow, U16, U32, U64, S16, S32, S64>(all, "mul.lo");
  add_binary<MultiplyHigh, U16, U32, U64, S16, S32, S64>(all, "mul.hi");
  add_binary<MultiplyWide, U16, U32, S16, S32>(all, "mul.wide");
  add_ternary<MultiplyAddLow, U16, U32, U64, S16, S32, S64>(all, "mad.lo");
  all.add("mad.wide.u16", {&multiply_add_wide<std::uint16_t>});
  all.add("mad.wide.u32", {&multiply_add_wide<std::uint32_t>});
  all.add("mad.wide.s16", {&multiply_add_wide<std::int16_t>});
  all.add("mad.wide.s32", {&multiply_add_wide<std::int32_t>});
  add_binary<IntegerDivide, U16, U32, U64, S16, S32, S64>(all, "div");
  add_binary<Remainder, U16, U32, U64, S16, S32, S64>(all, "rem");
  add_unary<IntegerAbsolute, S16, S32, S64>(all, "abs");
  add_unary<IntegerNegative, S16, S32, S64>(all, "neg");
  add_binary<IntegerMinimum, U16, U32, U64, S16, S32, S64>(all, "min");
  add_binary<IntegerMaximum, U16, U32, U64, S16, S32, S64>(all, "max");
}

}  // namespace gpubench::ptx
