// Comparisons: setp sets a predicate, set a register.
#include <cmath>

#include "tests/support/ptx/opcodes.h"

namespace gpubench::ptx {
namespace {

struct Equal {
  bool operator()(auto a, auto b) const { return a == b; }
};
struct NotEqual {
  bool operator()(auto a, auto b) const { return a < b || a > b; }  // false for NaN
};
struct Less {
  bool operator()(auto a, auto b) const { return a < b; }
};
struct LessOrEqual {
  bool operator()(auto a, auto b) const { return a <= b; }
};
struct Greater {
  bool operator()(auto a, auto b) const { return a > b; }
};
struct GreaterOrEqual {
  bool operator()(auto a, auto b) const { return a >= b; }
};
/// True for NaN too.
template <class Comparison>
struct OrUnordered {
  bool operator()(auto a, auto b) const { return std::isnan(a) || std::isnan(b) || Comparison{}(a, b); }
};
struct Ordered {
  bool operator()(auto a, auto b) const { return !std::isnan(a) && !std::isnan(b); }
};
struct Unordered {
  bool operator()(auto a, auto b) const { return std::isnan(a) || std::isnan(b); }
};

enum class With : std::uint8_t { conjunction, disjunction, exclusion };

bool combine(With with, bool a, bool b) {
  switch (with) {
    case With::conjunction:
      return a && b;
    case With::disjunction:
      return a || b;
    case With::exclusion:
      break;
  }
  return a != b;
}

/// The comparison, and a predicate that it is combined with.
template <class T, class Comparison>
void run_combined(Thread& thread, const Instruction& at) {
  const bool compared = Comparison{}(get<T>(thread, at.from[0]), get<T>(thread, at.from[1]));
  set(thread, at.to[0], combine(static_cast<With>(at.variant), compared, get<bool>(thread, at.from[2])));
}

template <class T, class Comparison>
void set_ones(Thread& thread, const Instruction& at) {
  const bool compared = Comparison{}(get<T>(thread, at.from[0]), get<T>(thread, at.from[1]));
  set(thread, at.to[0], compared ? ~0U : 0U);
}

template <class Comparison, class... Types>
void add_comparison(Opcodes& all, const std::string& name) {
  add_binary<Comparison, Types...>(all, "setp." + name);
  const auto combined = [&](const char* with, With variant) {
    (all.add(with_type("setp." + name + with, Types::name),
             {&run_combined<typename Types::Value, Comparison>, static_cast<std::uint8_t>(variant)}),
     ...);
  };
  combined(".and", With::conjunction);
  combined(".or", With::disjunction);
  combined(".xor", With::exclusion);
  (all.add(with_type("set." + name + ".u32", Types::name), {&set_ones<typename Types::Value, Comparison>}), ...);
}

}  // namespace

void add_compare_opcodes(Opcodes& all) {
  add_comparison<Equal, B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64>(all, "eq");
  add_comparison<NotEqual, B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64>(all, "ne");
  add_comparison<Less, U16, U32, U64, S16, S32, S64, F32, F64>(all, "lt");
  add_comparison<LessOrEqual, U16, U32, U64, S16, S32, S64, F32, F64>(all, "le");
  add_comparison<Greater, U16, U32, U64, S16, S32, S64, F32, F64>(all, "gt");
  add_comparison<GreaterOrEqual, U16, U32, U64, S16, S32, S64, F32, F64>(all, "ge");
  add_comparison<Less, U16, U32, U64>(all, "lo");
  add_comparison<LessOrEqual, U16, U32, U64>(all, "ls");
  add_comparison<Greater, U16, U32, U64>(all, "hi");
  add_comparison<GreaterOrEqual, U16, U32, U64>(all, "hs");
  add_comparison<OrUnordered<Equal>, F32, F64>(all, "equ");
  add_comparison<OrUnordered<NotEqual>, F32, F64>(all, "neu");
  add_comparison<OrUnordered<Less>, F32, F64>(all, "ltu");
  add_comparison<OrUnordered<LessOrEqual>, F32, F64>(all, "leu");
  add_comparison<OrUnordered<Greater>, F32, F64>(all, "gtu");
  add_comparison<OrUnordered<GreaterOrEqual>, F32, F64>(all, "geu");
  add_comparison<Ordered, F32, F64>(all, "num");
  add_comparison<Unordered, F32, F64>(all, "nan");
}

}  // namespace gpubench::ptx
