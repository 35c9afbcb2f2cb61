// gb.datasets: the MNIST digits. What was really read is kept, for run.json.
#include "core/data/source/mnist.h"

#include <fmt/format.h>
#include <map>
#include <variant>

#include "core/data/source/from_tensor_slices.h"
#include "lua/api/dataset.h"
#include "lua/api/openers.h"
#include "lua/api/tensor.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

constexpr const char* origins_key = "gpubench.data_origins";

struct MnistTable {
  bool flatten = true;
  bool one_hot = true;
  bool scaled = true;
  static constexpr auto fields =
      std::tuple{field("flatten", &MnistTable::flatten), field("one_hot", &MnistTable::one_hot),
                 field("scaled", &MnistTable::scaled)};
};

/// Sets origins["mnist train"] = { source, directory, examples, checksum }.
void note_origin(lua_State* L, const std::string& name, const DataOrigin& origin) {
  using Facts = std::map<std::string, std::variant<std::int64_t, std::string>>;
  luaL_getsubtable(L, LUA_REGISTRYINDEX, origins_key);
  Value<Facts>::push(L, {{"source", origin.kind},
                         {"directory", origin.directory.string()},
                         {"examples", origin.examples},
                         {"checksum", origin.checksum}});
  lua_setfield(L, -2, name.c_str());
  lua_pop(L, 1);
}

Mnist load(lua_State* L, const std::string& split, const MnistTable& options) {
  Mnist digits = load_mnist(split, {options.flatten, options.one_hot, options.scaled});
  note_origin(L, "mnist " + split, digits.origin);
  return digits;
}

DatasetPtr mnist_dataset(lua_State* L, const std::string& split, const MnistTable& options) {
  const Mnist digits = load(L, split, options);
  return from_tensor_slices({digits.images, digits.labels});
}

std::tuple<Tensor, Tensor> mnist_arrays(lua_State* L, const std::string& split, const MnistTable& options) {
  const Mnist digits = load(L, split, options);
  Dispatcher& dispatcher = world_of(L).dispatcher;
  return {dispatcher.constant(digits.images), dispatcher.constant(digits.labels)};
}

/// All data sets that were read so far, by name.
int origins(lua_State* L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, origins_key);
  return 1;
}

}  // namespace

void open_mnist(lua_State* L) {
  const Module gb = Module::root(L);
  {
    const Module datasets = gb.submodule("datasets");
    datasets.function<&mnist_dataset>("mnist").function<&mnist_arrays>("mnist_arrays");
  }
  const Module native = gb.submodule("_native");
  native.function<&origins>("data_origins");
}

}  // namespace gpubench::lua
