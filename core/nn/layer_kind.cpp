// Every kind of layer, and nothing else: adding a layer is one row.
#include "core/nn/layer_kind.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "core/base/known_names.h"
#include "core/nn/constraint.h"
#include "core/nn/regularizer.h"
#include "core/nn/weight_options.h"

namespace gpubench {

const std::vector<LayerKind>& layer_kinds() {
  static const std::vector<LayerKind> kinds = {
      nn::input(),
      nn::activation(),
      nn::add(),
      nn::additive_attention(),
      nn::alpha_dropout(),
      nn::attention(),
      nn::average(),
      nn::average_pooling1d(),
      nn::average_pooling2d(),
      nn::batch_normalization(),
      nn::bidirectional(),
      nn::category_encoding(),
      nn::concatenate(),
      nn::conv1d(),
      nn::conv1d_transpose(),
      nn::conv2d(),
      nn::conv2d_transpose(),
      nn::cropping1d(),
      nn::cropping2d(),
      nn::custom(),
      nn::dense(),
      nn::depthwise_conv2d(),
      nn::discretization(),
      nn::dot(),
      nn::dropout(),
      nn::elu(),
      nn::embedding(),
      nn::flatten(),
      nn::gaussian_dropout(),
      nn::gaussian_noise(),
      nn::global_average_pooling1d(),
      nn::global_average_pooling2d(),
      nn::global_max_pooling1d(),
      nn::global_max_pooling2d(),
      nn::group_normalization(),
      nn::group_query_attention(),
      nn::gru(),
      nn::gru_cell(),
      nn::identity(),
      nn::lambda(),
      nn::layer_normalization(),
      nn::leaky_relu(),
      nn::lstm(),
      nn::lstm_cell(),
      nn::masking(),
      nn::max_pooling1d(),
      nn::max_pooling2d(),
      nn::maximum(),
      nn::minimum(),
      nn::multi_head_attention(),
      nn::multiply(),
      nn::normalization(),
      nn::permute(),
      nn::prelu(),
      nn::random_brightness(),
      nn::random_contrast(),
      nn::random_crop(),
      nn::random_flip(),
      nn::random_rotation(),
      nn::random_translation(),
      nn::random_zoom(),
      nn::relu(),
      nn::repeat_vector(),
      nn::rescaling(),
      nn::reshape(),
      nn::resizing(),
      nn::reversible_embedding(),
      nn::rms_normalization(),
      nn::rnn(),
      nn::separable_conv2d(),
      nn::simple_rnn(),
      nn::simple_rnn_cell(),
      nn::softmax(),
      nn::spatial_dropout1d(),
      nn::spatial_dropout2d(),
      nn::stacked_rnn_cells(),
      nn::subtract(),
      nn::time_distributed(),
      nn::up_sampling1d(),
      nn::up_sampling2d(),
      nn::zero_padding1d(),
      nn::zero_padding2d(),
  };
  return kinds;
}

const LayerKind& find_layer_kind(std::string_view name) {
  for (const LayerKind& kind : layer_kinds()) {
    if (kind.name == name) return kind;
  }
  throw_unknown_name("unknown layer", name, names_of(layer_kinds(), &LayerKind::name), "", "gb.layers");
}

LayerPtr make_layer(const LayerKind& kind, const ConfigEntries& options, DeviceId device) {
  std::vector<ConfigField> fields = kind.fields;
  std::ranges::move(weight_option_fields(kind.fields), std::back_inserter(fields));
  for (ConfigField& field : Layer::common_fields()) fields.push_back(std::move(field));
  Config config(kind.name, fields, options);
  check_weight_options(config, regularizer_end, &parse_regularizer);
  check_weight_options(config, constraint_end, &parse_constraint);
  return kind.make(std::move(config), std::move(device));
}

LayerPtr make_layer(std::string_view kind, const ConfigEntries& options, DeviceId device) {
  return make_layer(find_layer_kind(kind), options, std::move(device));
}

}  // namespace gpubench
