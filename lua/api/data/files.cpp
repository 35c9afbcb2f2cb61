// gb.data: datasets that read files, and functions of their bytes.
#include "core/data/function/decode_raw.h"
#include "core/data/function/read_file.h"
#include "core/data/source/list_files.h"
#include "core/data/source/text.h"
#include "lua/api/data/dataset.h"
#include "lua/api/data/element_function.h"
#include "lua/api/data/file_names.h"
#include "lua/api/openers.h"
#include "lua/api/session.h"
#include "lua/api/types.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

struct ListFilesTable {
  bool shuffle = false;
  std::optional<std::uint64_t> seed;
  static constexpr auto fields =
      std::tuple{field("shuffle", &ListFilesTable::shuffle), field("seed", &ListFilesTable::seed)};
};

DatasetPtr files_listed(lua_State* L, const FileNames& patterns, const ListFilesTable& options) {
  FileOrder order{.shuffle = options.shuffle};
  if (order.shuffle) order.seed = options.seed ? *options.seed : session_of(L).random.next_seed();
  return list_files(listed(L, patterns), order);
}

DatasetPtr lines_of(lua_State* L, const FileNames& files) {
  return text_lines(listed(L, files));
}

DatasetPtr tokens_of(lua_State* L, const FileNames& files) {
  return byte_tokens(listed(L, files));
}

struct DecodeRawTable {
  Dtype dtype = Dtype::u8;
  Shape shape{varying};
  static constexpr auto fields =
      std::tuple{required("dtype", &DecodeRawTable::dtype), field("shape", &DecodeRawTable::shape)};
};

std::shared_ptr<const ElementFunction> file_reader() {
  return read_file();
}

std::shared_ptr<const ElementFunction> raw_decoder(const DecodeRawTable& options) {
  return decode_raw({options.shape, options.dtype});
}

}  // namespace

void open_data_files(lua_State* L) {
  const Module gb = Module::root(L);
  const Module data = gb.submodule("data");
  data.function<&file_reader>("read_file").function<&raw_decoder>("decode_raw");
  const Module constructors = data.submodule("Dataset");
  constructors.function<&files_listed>("list_files").function<&lines_of>("text_lines").function<&tokens_of>("bytes");
}

}  // namespace gpubench::lua
