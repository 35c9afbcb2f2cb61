#include "core/train/compress/mapped_weights.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <set>

#include "core/base/enum_names.h"
#include "core/base/error.h"
#include "core/codec/safetensors.h"
#include "core/math/half.h"
#include "core/train/trainer.h"

namespace gpubench {
namespace {

constexpr EnumNames<WeightLayout, 2> weight_layouts{"load_weights: unknown layout", {"keras", "torch"}};

template <class T>
const T& stored_as(const HostTensor& tensor, std::size_t i) {
  return reinterpret_cast<const T*>(tensor.data())[i];
}

float as_float32(const HostTensor& tensor, std::size_t i) {
  if (tensor.dtype() == Dtype::f16) return math::to_float(stored_as<math::Float16>(tensor, i));
  if (tensor.dtype() == Dtype::bf16) return math::to_float(stored_as<math::Bfloat16>(tensor, i));
  return stored_as<float>(tensor, i);
}

/// Between floating-point types.
HostTensor converted(const HostTensor& tensor, Dtype dtype) {
  if (tensor.dtype() == dtype) return tensor;
  HostTensor result(TensorType{tensor.shape(), dtype});
  const std::size_t unit = size_of(dtype);
  std::byte* to = result.data();
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.elements()); ++i, to += unit) {
    const float value = as_float32(tensor, i);
    const math::Float16 half = math::to_float16(value);
    const math::Bfloat16 brain = math::to_bfloat16(value);
    const void* const from = dtype == Dtype::f32   ? static_cast<const void*>(&value)
                             : dtype == Dtype::f16 ? static_cast<const void*>(&half)
                                                   : static_cast<const void*>(&brain);
    std::memcpy(to, from, unit);
  }
  return result;
}

/// The dimensions of PyTorch's kernel in the order of ours, by rank; empty: as they are.
std::vector<std::size_t> torch_order(std::size_t rank) {
  if (rank == 2) return {1, 0};
  if (rank == 3) return {2, 1, 0};
  if (rank == 4) return {2, 3, 1, 0};
  return {};
}

HostTensor permuted(const HostTensor& tensor, std::span<const std::size_t> order) {
  const Shape& from = tensor.shape();
  const std::size_t rank = from.size(), unit = size_of(tensor.dtype());
  std::vector<std::size_t> strides(rank, unit);
  for (std::size_t axis = rank - 1; axis > 0; --axis) {
    strides[axis - 1] = strides[axis] * static_cast<std::size_t>(from[axis]);
  }
  Shape shape(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) shape[axis] = from[order[axis]];
  HostTensor result(TensorType{shape, tensor.dtype()});
  std::vector<std::int64_t> index(rank, 0);
  std::byte* to = result.data();
  for (std::int64_t i = 0; i < result.elements(); ++i, to += unit) {
    std::size_t offset = 0;
    for (std::size_t axis = 0; axis < rank; ++axis)
      offset += static_cast<std::size_t>(index[axis]) * strides[order[axis]];
    std::memcpy(to, tensor.data() + offset, unit);
    for (std::size_t axis = rank; axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
  return result;
}

/// Columns [first, last) of the last dimension.
HostTensor columns(const HostTensor& tensor, std::int64_t first, std::int64_t last) {
  Shape shape = tensor.shape();
  const std::int64_t width = shape.back(), rows = tensor.elements() / std::max<std::int64_t>(width, 1);
  shape.back() = last - first;
  HostTensor part(TensorType{shape, tensor.dtype()});
  const std::size_t unit = size_of(tensor.dtype()), bytes = static_cast<std::size_t>(last - first) * unit;
  for (std::int64_t row = 0; row < rows && bytes > 0; ++row) {
    std::memcpy(part.data() + static_cast<std::size_t>(row) * bytes,
                tensor.data() + static_cast<std::size_t>(row * width + first) * unit, bytes);
  }
  return part;
}

/// Whether one shape only divides or joins neighbouring dimensions of the other: the finer one has all borders of the
/// coarser.
bool regroups(const Shape& a, const Shape& b) {
  const auto borders = [](const Shape& shape) {
    std::set<std::int64_t> products;
    std::int64_t product = 1;
    for (const std::int64_t extent : shape) products.insert(product *= extent);
    return products;
  };
  if (element_count(a) != element_count(b)) return false;
  std::set<std::int64_t> first = borders(a), second = borders(b);
  first.insert(1);
  second.insert(1);
  return std::ranges::includes(first, second) || std::ranges::includes(second, first);
}

/// Up to ten names, and how many there are besides.
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i) text += (i > 0 ? ", " : "") + names[i];
  return names.size() > most ? fmt::format("{} and {} more", text, names.size() - most) : text;
}

/// Reads the weights of one file.
class Weights {
 public:
  Weights(const std::filesystem::path& file, const Model& model, WeightLayout layout)
      : file_(file.string()), model_(model), layout_(layout) {
    for (NamedTensor& tensor : read_safetensors(file).tensors) tensors_.emplace(tensor.name, std::move(tensor.tensor));
  }

  std::vector<HostTensor> read(const WeightMap& map) const {
    const std::vector<VariablePtr> variables = model_.variables();
    std::vector<WeightOrigin> origins;
    for (const VariablePtr& variable : variables) origins.push_back(map(variable->name));
    check_names(variables, origins);
    std::vector<HostTensor> values;
    for (std::size_t i = 0; i < variables.size(); ++i) values.push_back(value_of(*variables[i], origins[i]));
    return values;
  }

 private:
  void check_names(const std::vector<VariablePtr>& variables, const std::vector<WeightOrigin>& origins) const {
    std::vector<std::string> missing;
    std::set<std::string> left;
    for (const auto& [name, tensor] : tensors_) left.insert(name);
    for (std::size_t i = 0; i < variables.size(); ++i) {
      if (origins[i].tensors.empty()) missing.push_back(variables[i]->name + " (the map gives no tensor)");
      for (const std::string& name : origins[i].tensors) {
        left.erase(name);
        if (tensors_.contains(name)) continue;
        missing.push_back(name == variables[i]->name ? name : fmt::format("{} (as '{}')", variables[i]->name, name));
      }
    }
    if (missing.empty()) return;
    const std::vector<std::string> unused(left.begin(), left.end());
    throw Error(fmt::format("{}: {} of the {} weights of model '{}' are not there: {}; {}", file_, missing.size(),
                            variables.size(), model_.name(), listed(missing),
                            unused.empty() ? "all tensors of the file are used"
                                           : fmt::format("tensors that no weight uses: {}", listed(unused))));
  }

  HostTensor value_of(const Variable& variable, const WeightOrigin& origin) const {
    HostTensor sum;
    for (const std::string& name : origin.tensors) {
      HostTensor value = fitted(variable, name, origin);
      if (origin.tensors.size() == 1) return converted(value, variable.type.dtype);
      if (sum.empty()) sum = HostTensor::zeros(value.type());
      const std::span<float> to = sum.values<float>();
      std::ranges::transform(to, value.values<float>(), to.begin(), std::plus<>());
    }
    return converted(sum, variable.type.dtype);
  }

  /// The tensor in the weight's order and shape; of float32 if it is to be added to others.
  HostTensor fitted(const Variable& variable, const std::string& name, const WeightOrigin& origin) const {
    const HostTensor& stored = tensors_.at(name);
    HostTensor value = stored;
    const bool is_kernel = variable.name.ends_with("kernel");
    if (layout_ == WeightLayout::torch && is_kernel) {
      const std::vector<std::size_t> order = torch_order(value.shape().size());
      if (!order.empty()) value = permuted(value, order);
    }
    if (origin.of > 1) value = part_of(value, name, origin);
    const bool floats = is_floating(value.dtype()) && is_floating(variable.type.dtype);
    const bool fits = floats || (value.dtype() == variable.type.dtype && origin.tensors.size() == 1);
    if (!fits || !regroups(value.shape(), variable.type.shape)) {
      throw Error(fmt::format("{}: tensor '{}' is {}{}; weight '{}' of model '{}' is {}", file_, name,
                              to_string(stored.type()),
                              value.type() == stored.type() ? "" : fmt::format(", here {}", to_string(value.type())),
                              variable.name, model_.name(), to_string(variable.type)));
    }
    value = value.reshaped(variable.type.shape);
    return origin.tensors.size() > 1 ? converted(value, Dtype::f32) : value;
  }

  HostTensor part_of(const HostTensor& value, const std::string& name, const WeightOrigin& origin) const {
    const std::int64_t width = value.shape().empty() ? 0 : value.shape().back();
    if (width == 0 || width % origin.of != 0) {
      throw Error(fmt::format("{}: tensor '{}' is {}, whose output dimension cannot be divided into {} equal parts",
                              file_, name, to_string(value.type()), origin.of));
    }
    const std::int64_t each = width / origin.of;
    return columns(value, (origin.part - 1) * each, origin.part * each);
  }

  std::string file_;
  const Model& model_;
  WeightLayout layout_;
  std::map<std::string, HostTensor> tensors_;
};

}  // namespace

WeightLayout parse_weight_layout(std::string_view name) {
  return weight_layouts.parse(name);
}

void load_mapped_weights(Runtime& runtime, const Model& model, const std::filesystem::path& file, const WeightMap& map,
                         WeightLayout layout) {
  if (!model.built()) {
    throw Error(fmt::format("model '{}': has no weights yet, so they cannot be loaded; its input's shape makes them",
                            model.name()));
  }
  write_weights(runtime, model, Weights(file, model, layout).read(map));
}

}  // namespace gpubench
