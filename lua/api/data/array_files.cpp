// gb.load_npy, gb.save_npy: arrays that NumPy reads and writes.
#include "core/codec/npy.h"
#include "lua/api/openers.h"
#include "lua/api/output_path.h"
#include "lua/api/tensor/tensor.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

Tensor load_npy(lua_State* L, const std::string& path) {
  return world_of(L).dispatcher.constant(read_npy(path));
}

void save_npy(lua_State* L, const std::string& path, const Tensor& tensor) {
  write_npy(output_path(L, path, "save_npy"), download(L, tensor));
}

}  // namespace

void open_array_files(lua_State* L) {
  const Module gb = Module::root(L);
  gb.function<&load_npy>("load_npy").function<&save_npy>("save_npy");
}

}  // namespace gpubench::lua
