// gb.data.decode_raw: numbers from byte strings.
#include "core/data/dataset.h"
#include "core/data/function/decode_raw.h"
#include "lua/api/element_function.h"
#include "lua/api/openers.h"
#include "lua/api/types.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

struct DecodeRawTable {
  Dtype dtype = Dtype::u8;
  Shape shape{varying};
  static constexpr auto fields =
      std::tuple{required("dtype", &DecodeRawTable::dtype), field("shape", &DecodeRawTable::shape)};
};

std::shared_ptr<const ElementFunction> raw_decoder(const DecodeRawTable& options) {
  return decode_raw({options.shape, options.dtype});
}

}  // namespace

void open_data_raw(lua_State* L) {
  const Module gb = Module::root(L);
  const Module data = gb.submodule("data");
  data.function<&raw_decoder>("decode_raw");
}

}  // namespace gpubench::lua
