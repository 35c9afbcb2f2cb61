#include "core/nn/loss.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/nn/labels.h"
#include "core/ops/reduce.h"

namespace gpubench {
namespace {

using Names = std::pair<std::string_view, std::string_view>;
/// Keras' short names.
constexpr std::array short_names = {
    Names{"BCE", "binary_crossentropy"}, Names{"KLD", "kl_divergence"},
    Names{"MAE", "mean_absolute_error"}, Names{"MAPE", "mean_absolute_percentage_error"},
    Names{"MSE", "mean_squared_error"},  Names{"MSLE", "mean_squared_logarithmic_error"},
    Names{"bce", "binary_crossentropy"}, Names{"cosine", "cosine_similarity"},
    Names{"huber_loss", "huber"},        Names{"kld", "kl_divergence"},
    Names{"mae", "mean_absolute_error"}, Names{"mape", "mean_absolute_percentage_error"},
    Names{"mse", "mean_squared_error"},  Names{"msle", "mean_squared_logarithmic_error"},
};

struct ReductionName {
  std::string_view name;
  LossReduction reduction;
};
constexpr std::array reduction_names = {
    ReductionName{"sum_over_batch_size", LossReduction::mean},
    ReductionName{"mean", LossReduction::mean},
    ReductionName{"sum", LossReduction::sum},
    ReductionName{"none", LossReduction::none},
};

LossReduction parse_reduction(const Config& config) {
  const std::string& given = config.text("reduction");
  for (const ReductionName& row : reduction_names) {
    if (row.name == given) return row.reduction;
  }
  throw_unknown_name(fmt::format("{}: unknown reduction", config.owner()), given,
                     names_of(reduction_names, &ReductionName::name));
}

/// A row of the table with its options.
class NamedLoss final : public Loss {
 public:
  NamedLoss(const LossKind& kind, Config config)
      : kind_(kind), config_(std::move(config)), reduction_(parse_reduction(config_)) {
    for (const auto& [name, value] : config_.entries()) {
      const auto* const number = std::get_if<double>(&value);
      if (name == "label_smoothing") config_.number_within(name, 0, 1);
      if (name == "alpha" || name == "beta" || name == "gamma") require_factors(name, value);
      if (name == "delta" && !(*number > 0)) {
        throw Error(fmt::format("{}: delta must be above 0, got {}", kind_.name, to_string(value)));
      }
    }
  }
  std::string name() const override { return kind_.name; }
  LossReduction reduction() const override { return reduction_; }
  bool takes_class_indices() const override { return kind_.takes_class_indices; }
  std::optional<std::int64_t> ignored_class() const override {
    if (!kind_.takes_class_indices || config_.integer("ignore_class") == no_class) return std::nullopt;
    return config_.integer("ignore_class");
  }
  Value values(Graph& graph, Value labels, Value predictions) const override {
    return kind_.values(graph, config_, labels, predictions);
  }

 private:
  /// One number or several, of at least 0.
  void require_factors(const std::string& option, const ConfigValue& value) const {
    const auto* const number = std::get_if<double>(&value);
    const Numbers factors = number != nullptr ? Numbers{*number} : std::get<Numbers>(value);
    const auto fits = [](double factor) { return factor >= 0 && std::isfinite(factor); };
    if (!factors.empty() && std::ranges::all_of(factors, fits)) return;
    throw Error(fmt::format("{}: {} must be at least 0, got {}", kind_.name, option, to_string(value)));
  }

  const LossKind& kind_;
  Config config_;
  LossReduction reduction_;
};

class CustomLoss final : public Loss {
 public:
  CustomLoss(std::string name, GraphFunction function) : name_(std::move(name)), function_(std::move(function)) {}
  std::string name() const override { return name_; }
  Value values(Graph& graph, Value labels, Value predictions) const override {
    expect_no_broadcast(graph, fmt::format("loss '{}'", name_), labels, predictions);
    const Value value = function_(graph, labels, predictions);
    if (!value || !is_floating(graph.type(value).dtype)) {
      throw Error(fmt::format("loss '{}': must return a floating-point tensor", name_));
    }
    return value;
  }

 private:
  std::string name_;
  GraphFunction function_;
};

}  // namespace

Value Loss::call(Graph& graph, Value labels, Value predictions, Values inputs) const {
  const Value wide = in_float32(graph, predictions);
  const Value values = values_with_inputs(graph, meeting_labels(graph, labels, wide), wide, inputs);
  const Shape& shape = graph.type(values).shape;
  const bool per_element = shape.size() >= 2 && shape == graph.type(wide).shape;
  return per_element && reduction() != LossReduction::mean ? ops::reduce_mean(graph, values, {-1}) : values;
}

Value Loss::values_with_inputs(Graph& graph, Value labels, Value predictions, Values /*inputs*/) const {
  return values(graph, labels, predictions);
}

std::string name_of_class(std::string_view name) {
  const auto is_lower = [&](std::size_t i) {
    return i < name.size() && std::islower(static_cast<unsigned char>(name[i])) != 0;
  };
  std::string result;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto letter = static_cast<unsigned char>(name[i]);
    if (i > 0 && std::isupper(letter) != 0 && (is_lower(i - 1) || is_lower(i + 1))) result += '_';
    result += static_cast<char>(std::tolower(letter));
  }
  return result;
}

LossPtr make_loss(std::string_view name, const ConfigEntries& options) {
  for (const auto& [given, meant] : short_names) {
    if (name == given) name = meant;
  }
  const std::string of_class = name_of_class(name);
  for (const LossKind& kind : loss_kinds()) {
    if (kind.name != name && kind.name != of_class) continue;
    std::vector<ConfigField> fields = kind.fields;
    fields.push_back({"reduction", std::string(reduction_names[0].name)});
    return std::make_shared<const NamedLoss>(kind, Config(kind.name, fields, options));
  }
  throw_unknown_name("unknown loss", name, names_of(loss_kinds(), &LossKind::name),
                     "; or a function of labels and predictions", "loss");
}

LossPtr make_custom_loss(std::string name, GraphFunction function) {
  return std::make_shared<const CustomLoss>(std::move(name), std::move(function));
}

}  // namespace gpubench
