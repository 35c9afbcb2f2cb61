// gb.datasets: sets of small labelled images. What was really read is kept, for run.json.
#include <fmt/format.h>
#include <map>
#include <variant>

#include "core/data/source/from_tensor_slices.h"
#include "core/data/source/image_set.h"
#include "lua/api/data/data_origin.h"
#include "lua/api/data/dataset.h"
#include "lua/api/openers.h"
#include "lua/api/tensor/tensor.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

constexpr const char* origins_key = "gpubench.data_origins";

struct ImageSetTable {
  std::optional<bool> flatten;
  bool one_hot = true;
  bool scaled = true;
  std::string directory;
  static constexpr auto fields =
      std::tuple{field("flatten", &ImageSetTable::flatten), field("one_hot", &ImageSetTable::one_hot),
                 field("scaled", &ImageSetTable::scaled), field("directory", &ImageSetTable::directory)};
};

struct Cifar100Table : ImageSetTable {
  std::string label_mode = "fine";
  static constexpr auto fields =
      std::tuple{field("flatten", &Cifar100Table::flatten), field("one_hot", &Cifar100Table::one_hot),
                 field("scaled", &Cifar100Table::scaled), field("directory", &Cifar100Table::directory),
                 field("label_mode", &Cifar100Table::label_mode)};

  const ImageSetKind& kind() const {
    if (label_mode == "fine") return cifar100_fine();
    if (label_mode == "coarse") return cifar100_coarse();
    throw ArgumentError(fmt::format("option 'label_mode': 'fine' or 'coarse' is expected, got '{}'", label_mode));
  }
};

/// Colour images keep their shape unless the script says otherwise; digits and clothes are rows.
ImageSet load(lua_State* L, const ImageSetKind& kind, const std::string& split, const ImageSetTable& options) {
  const bool flatten = options.flatten.value_or(&kind == &mnist() || &kind == &fashion_mnist());
  ImageSet images = load_images(kind, split, {flatten, options.one_hot, options.scaled}, options.directory);
  note_origin(L, fmt::format("{} {}", kind.name, split), images.origin);
  return images;
}

DatasetPtr dataset_of(const ImageSet& images) {
  return from_tensor_slices({images.images, images.labels});
}

std::tuple<Tensor, Tensor> arrays_of(lua_State* L, const ImageSet& images) {
  Dispatcher& dispatcher = world_of(L).dispatcher;
  return {dispatcher.constant(images.images), dispatcher.constant(images.labels)};
}

template <auto Kind>
DatasetPtr image_dataset(lua_State* L, const std::string& split, const ImageSetTable& options) {
  return dataset_of(load(L, Kind(), split, options));
}

template <auto Kind>
std::tuple<Tensor, Tensor> image_arrays(lua_State* L, const std::string& split, const ImageSetTable& options) {
  return arrays_of(L, load(L, Kind(), split, options));
}

DatasetPtr cifar100_dataset(lua_State* L, const std::string& split, const Cifar100Table& options) {
  return dataset_of(load(L, options.kind(), split, options));
}

std::tuple<Tensor, Tensor> cifar100_arrays(lua_State* L, const std::string& split, const Cifar100Table& options) {
  return arrays_of(L, load(L, options.kind(), split, options));
}

/// All data sets that were read so far, by name.
int origins(lua_State* L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, origins_key);
  return 1;
}

}  // namespace

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

void open_image_sets(lua_State* L) {
  const Module gb = Module::root(L);
  {
    const Module datasets = gb.submodule("datasets");
    datasets.function<&image_dataset<&cifar10>>("cifar10")
        .function<&image_arrays<&cifar10>>("cifar10_arrays")
        .function<&cifar100_dataset>("cifar100")
        .function<&cifar100_arrays>("cifar100_arrays")
        .function<&image_dataset<&fashion_mnist>>("fashion_mnist")
        .function<&image_arrays<&fashion_mnist>>("fashion_mnist_arrays")
        .function<&image_dataset<&mnist>>("mnist")
        .function<&image_arrays<&mnist>>("mnist_arrays");
  }
  const Module native = gb.submodule("_native");
  native.function<&origins, 0>("data_origins");
}

}  // namespace gpubench::lua
