// Every kind of layer, and nothing else: adding a layer is one row.
#include "core/nn/layer_kind.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "core/base/known_names.h"
#include "core/nn/regularizer.h"

namespace gpubench {

const std::vector<LayerKind>& layer_kinds() {
  static const std::vector<LayerKind> kinds = {
      nn::input(),
      nn::dense(),
      nn::conv2d(),
      nn::max_pooling2d(),
      nn::average_pooling2d(),
      nn::global_average_pooling2d(),
      nn::flatten(),
      nn::reshape(),
      nn::dropout(),
      nn::batch_normalization(),
      nn::activation(),
      nn::add(),
      nn::concatenate(),
      nn::embedding(),
      nn::group_query_attention(),
      nn::layer_normalization(),
      nn::multi_head_attention(),
      nn::rms_normalization(),
  };
  return kinds;
}

const LayerKind& find_layer_kind(std::string_view name) {
  for (const LayerKind& kind : layer_kinds()) {
    if (kind.name == name) return kind;
  }
  throw_unknown_name("unknown layer", name, names_of(layer_kinds(), &LayerKind::name));
}

LayerPtr make_layer(const LayerKind& kind, const ConfigEntries& options, DeviceId device) {
  std::vector<ConfigField> fields = kind.fields;
  std::ranges::move(regularizer_fields(kind.fields), std::back_inserter(fields));
  for (ConfigField& field : Layer::common_fields()) fields.push_back(std::move(field));
  Config config(kind.name, fields, options);
  check_regularizers(config);
  return kind.make(std::move(config), std::move(device));
}

LayerPtr make_layer(std::string_view kind, const ConfigEntries& options, DeviceId device) {
  return make_layer(find_layer_kind(kind), options, std::move(device));
}

}  // namespace gpubench
