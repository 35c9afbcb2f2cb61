// Weights that other programs saved: a map gives the tensor of a safetensors file for each weight of a model, and a
// layout says how that program orders the dimensions of kernels.
//
//   layout "torch": Dense [out, in], Conv1D [out, in, width], Conv2D, DepthwiseConv2D and Conv2DTranspose [out, in,
//   height, width] (transposed: [in, out, ...]), LSTM [4 units, in]; everything that is no kernel is as here
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/runtime.h"
#include "core/nn/model.h"

namespace gpubench {

enum class WeightLayout : std::uint8_t { keras, torch };
/// "keras", "torch".
WeightLayout parse_weight_layout(std::string_view name);

/// Where a weight comes from.
struct WeightOrigin {
  /// Names in the file; the sum of several, as of the two biases of PyTorch's LSTM.
  std::vector<std::string> tensors;
  /// Part `part` (from 1) of `of` equal parts of the output dimension, as of query, key and value in one tensor.
  std::int64_t part = 1, of = 1;
};
using WeightMap = std::function<WeightOrigin(const std::string& weight)>;

/// Shapes may group dimensions otherwise, as [in, heads * size] for [in, heads, size]; floating-point types are
/// converted. Throws Error, before any weight changes, with all weights that the file lacks beside its tensors that are
/// left over, and for a tensor of another shape with both shapes.
void load_mapped_weights(Runtime& runtime, const Model& model, const std::filesystem::path& file, const WeightMap& map,
                         WeightLayout layout);

}  // namespace gpubench
