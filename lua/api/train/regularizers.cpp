// gb.regularizers: spells out penalties for weights, as layers take them.
#include "core/nn/regularizer.h"
#include "lua/api/openers.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

constexpr double keras_default = 0.01;

struct L1Options {
  double l1 = keras_default;
  static constexpr auto fields = std::tuple{field("l1", &L1Options::l1)};
};
struct L2Options {
  double l2 = keras_default;
  static constexpr auto fields = std::tuple{field("l2", &L2Options::l2)};
};
struct L1L2Options {
  double l1 = 0, l2 = 0;
  static constexpr auto fields = std::tuple{field("l1", &L1L2Options::l1), field("l2", &L1L2Options::l2)};
};

/// Checked as the layer's text is.
std::string text_of(const Regularizer& regularizer) {
  std::string text = to_string(regularizer);
  parse_regularizer(text);
  return text;
}

/// gb.regularizers.L1 { l1 = 0.01 } or L1(0.01)
std::string l1(const std::optional<std::variant<double, L1Options>>& given) {
  if (!given) return text_of({.l1 = keras_default});
  const auto* const number = std::get_if<double>(&*given);
  return text_of({.l1 = number != nullptr ? *number : std::get<L1Options>(*given).l1});
}

std::string l2(const std::optional<std::variant<double, L2Options>>& given) {
  if (!given) return text_of({.l2 = keras_default});
  const auto* const number = std::get_if<double>(&*given);
  return text_of({.l2 = number != nullptr ? *number : std::get<L2Options>(*given).l2});
}

std::string l1_l2(const L1L2Options& options) {
  return text_of({options.l1, options.l2});
}

}  // namespace

void open_regularizers(lua_State* L) {
  const Module gb = Module::root(L);
  gb.submodule("regularizers").function<&l1>("L1").function<&l2>("L2").function<&l1_l2>("L1L2");
}

}  // namespace gpubench::lua
