// Every kind of layer, and nothing else: adding a layer is one row.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/nn/activation.h"
#include "core/nn/batch_normalization.h"
#include "core/nn/conv2d.h"
#include "core/nn/dense.h"
#include "core/nn/dropout.h"
#include "core/nn/input.h"
#include "core/nn/layer_kind.h"
#include "core/nn/merge.h"
#include "core/nn/pooling.h"
#include "core/nn/reshape.h"

namespace gpubench {

const std::vector<LayerKind>& layer_kinds() {
  static const std::vector<LayerKind> kinds = {
      nn::Input::layer_kind(),
      nn::Dense::layer_kind(),
      nn::Conv2D::layer_kind(),
      nn::MaxPooling2D::layer_kind(),
      nn::AveragePooling2D::layer_kind(),
      nn::GlobalAveragePooling2D::layer_kind(),
      nn::Flatten::layer_kind(),
      nn::Reshape::layer_kind(),
      nn::Dropout::layer_kind(),
      nn::BatchNormalization::layer_kind(),
      nn::Activation::layer_kind(),
      nn::Add::layer_kind(),
      nn::Concatenate::layer_kind(),
  };
  return kinds;
}

const LayerKind& find_layer_kind(std::string_view name) {
  std::string names;
  for (const LayerKind& kind : layer_kinds()) {
    if (kind.name == name) return kind;
    names += (names.empty() ? "" : ", ") + kind.name;
  }
  throw Error(fmt::format("unknown layer '{}' (known: {})", name, names));
}

LayerPtr make_layer(const LayerKind& kind, const ConfigEntries& options, DeviceId device) {
  std::vector<ConfigField> fields = kind.fields;
  for (ConfigField& field : Layer::common_fields()) fields.push_back(std::move(field));
  return kind.make(Config(kind.name, fields, options), std::move(device));
}

LayerPtr make_layer(std::string_view kind, const ConfigEntries& options, DeviceId device) {
  return make_layer(find_layer_kind(kind), options, std::move(device));
}

}  // namespace gpubench
