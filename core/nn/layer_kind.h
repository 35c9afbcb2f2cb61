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
LayerKind activation();
LayerKind add();
LayerKind additive_attention();
LayerKind alpha_dropout();
LayerKind attention();
LayerKind average();
LayerKind average_pooling1d();
LayerKind average_pooling2d();
LayerKind batch_normalization();
LayerKind bidirectional();
LayerKind category_encoding();
LayerKind concatenate();
LayerKind conv1d();
LayerKind conv1d_transpose();
LayerKind conv2d();
LayerKind conv2d_transpose();
LayerKind cropping1d();
LayerKind cropping2d();
LayerKind custom();
LayerKind dense();
LayerKind depthwise_conv2d();
LayerKind discretization();
LayerKind dot();
LayerKind dropout();
LayerKind elu();
LayerKind embedding();
LayerKind flatten();
LayerKind gaussian_dropout();
LayerKind gaussian_noise();
LayerKind global_average_pooling1d();
LayerKind global_average_pooling2d();
LayerKind global_max_pooling1d();
LayerKind global_max_pooling2d();
LayerKind group_normalization();
LayerKind group_query_attention();
LayerKind gru();
LayerKind gru_cell();
LayerKind identity();
LayerKind input();
LayerKind lambda();
LayerKind layer_normalization();
LayerKind leaky_relu();
LayerKind lstm();
LayerKind lstm_cell();
LayerKind masking();
LayerKind max_pooling1d();
LayerKind max_pooling2d();
LayerKind maximum();
LayerKind minimum();
LayerKind multi_head_attention();
LayerKind multiply();
LayerKind normalization();
LayerKind permute();
LayerKind prelu();
LayerKind random_brightness();
LayerKind random_contrast();
LayerKind random_crop();
LayerKind random_flip();
LayerKind random_rotation();
LayerKind random_translation();
LayerKind random_zoom();
LayerKind relu();
LayerKind repeat_vector();
LayerKind rescaling();
LayerKind reshape();
LayerKind resizing();
LayerKind reversible_embedding();
LayerKind rms_normalization();
LayerKind rnn();
LayerKind separable_conv2d();
LayerKind simple_rnn();
LayerKind simple_rnn_cell();
LayerKind softmax();
LayerKind spatial_dropout1d();
LayerKind spatial_dropout2d();
LayerKind stacked_rnn_cells();
LayerKind subtract();
LayerKind time_distributed();
LayerKind up_sampling1d();
LayerKind up_sampling2d();
LayerKind zero_padding1d();
LayerKind zero_padding2d();
}  // namespace nn

/// The `make` of a layer that is constructed from (Config, DeviceId).
template <class T>
LayerPtr construct_layer(Config config, DeviceId device) {
  return std::make_shared<T>(std::move(config), std::move(device));
}

}  // namespace gpubench
