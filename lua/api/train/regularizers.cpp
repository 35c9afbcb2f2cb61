// gb.regularizers: spells out penalties for weights, as layers take them.
#include <array>

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

constexpr std::array l1_positions{"l1"};
constexpr std::array l2_positions{"l2"};
constexpr std::array l1_l2_positions{"l1", "l2"};

std::string l1(const L1Options& options) {
  return text_of({.l1 = options.l1});
}

std::string l2(const L2Options& options) {
  return text_of({.l2 = options.l2});
}

std::string l1_l2(const L1L2Options& options) {
  return text_of({options.l1, options.l2});
}

}  // namespace

void open_regularizers(lua_State* L) {
  const Module gb = Module::root(L);
  gb.submodule("regularizers")
      .constructor<&l1, l1_positions>("L1")
      .constructor<&l2, l2_positions>("L2")
      .constructor<&l1_l2, l1_l2_positions>("L1L2");
}

}  // namespace gpubench::lua
