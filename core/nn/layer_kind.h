// Creates layers from options: one description per kind, listed in layer_kind.cpp, for both scripts and saved
// architectures.
#pragma once
#include <string_view>
#include <vector>

#include "core/nn/layer.h"

namespace gpubench {

struct LayerKind {
  std::string name;
  /// The options that may be positional, in order.
  std::vector<std::string> positional;
  /// Without Layer::common_fields().
  std::vector<ConfigField> fields;
  LayerPtr (*make)(Config config, DeviceId device);
};

const std::vector<LayerKind>& layer_kinds();
/// Throws Error listing the kinds.
const LayerKind& find_layer_kind(std::string_view name);
/// Checks the options, then creates the layer.
LayerPtr make_layer(const LayerKind& kind, const ConfigEntries& options, DeviceId device = {});
LayerPtr make_layer(std::string_view kind, const ConfigEntries& options = {}, DeviceId device = {});

/// The kinds, each defined in its layer's source.
namespace nn {
LayerKind input();
LayerKind dense();
LayerKind conv2d();
LayerKind max_pooling2d();
LayerKind average_pooling2d();
LayerKind global_average_pooling2d();
LayerKind flatten();
LayerKind reshape();
LayerKind dropout();
LayerKind batch_normalization();
LayerKind activation();
LayerKind add();
LayerKind concatenate();
LayerKind custom();
LayerKind embedding();
LayerKind group_query_attention();
LayerKind lambda();
LayerKind layer_normalization();
LayerKind multi_head_attention();
LayerKind rms_normalization();
}  // namespace nn

/// The `make` of a layer that is constructed from (Config, DeviceId).
template <class T>
LayerPtr construct_layer(Config config, DeviceId device) {
  return std::make_shared<T>(std::move(config), std::move(device));
}

}  // namespace gpubench
