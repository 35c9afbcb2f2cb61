// gb.initializers: spells out an initializer with arguments, as layers take it.
#include <fmt/format.h>
#include <string>
#include <vector>

#include "core/nn/initializer.h"
#include "lua/api/openers.h"
#include "lua/api/train/config_value.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

struct ClassName {
  const char* in_scripts;
  const char* in_core;
  std::vector<std::string> positional{};  ///< arguments that may stand without their names, in Keras' order
};
const std::vector<ClassName>& classes() {
  static const std::vector<ClassName> all{
      {"Zeros", "zeros"},
      {"Ones", "ones"},
      {"Constant", "constant", {"value"}},
      {"GlorotUniform", "glorot_uniform", {"seed"}},
      {"GlorotNormal", "glorot_normal", {"seed"}},
      {"HeUniform", "he_uniform", {"seed"}},
      {"HeNormal", "he_normal", {"seed"}},
      {"LecunNormal", "lecun_normal", {"seed"}},
      {"LecunUniform", "lecun_uniform", {"seed"}},
      {"Orthogonal", "orthogonal", {"gain", "seed"}},
      {"RandomUniform", "random_uniform", {"minval", "maxval", "seed"}},
      {"RandomNormal", "random_normal", {"mean", "stddev", "seed"}},
      {"TruncatedNormal", "truncated_normal", {"mean", "stddev", "seed"}},
      {"VarianceScaling", "variance_scaling", {"scale", "mode", "distribution", "seed"}}};
  return all;
}

/// gb.initializers.<Class>{arguments}: "random_normal(mean=0, stddev=0.02)".
StackFunction constructor(const ClassName& of) {
  return [&of](lua_State* L) {
    std::string text;
    for (const auto& [argument, value] : read_config(L, 1, of.positional)) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", argument, to_string(value));
    }
    Value<std::string>::push(L, to_string(parse_initializer(fmt::format("{}({})", of.in_core, text))));
    return 1;
  };
}

}  // namespace

void open_initializers(lua_State* L) {
  const Module gb = Module::root(L);
  const Module initializers = gb.submodule("initializers");
  for (const ClassName& name : classes()) initializers.constructor(name.in_scripts, constructor(name));
}

}  // namespace gpubench::lua
