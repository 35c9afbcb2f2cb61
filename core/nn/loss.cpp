#include "core/nn/loss.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/nn/labels.h"
#include "core/ops/elementwise.h"
#include "core/ops/loss.h"

namespace gpubench {
namespace {

class CategoricalCrossEntropyLoss final : public Loss {
 public:
  explicit CategoricalCrossEntropyLoss(bool from_logits) : from_logits_(from_logits) {}
  std::string name() const override { return "categorical_crossentropy"; }
  Value values(Graph& graph, Value labels, Value predictions) const override {
    expect_classes(graph, name(), predictions);
    const Value one_hot = matching_labels(graph, name(), labels, predictions);
    if (from_logits_) return ops::softmax_cross_entropy(graph, predictions, one_hot);
    return ops::cross_entropy(graph, predictions, one_hot);
  }

 private:
  bool from_logits_;
};

class SparseCategoricalCrossEntropyLoss final : public Loss {
 public:
  explicit SparseCategoricalCrossEntropyLoss(bool from_logits) : from_logits_(from_logits) {}
  std::string name() const override { return "sparse_categorical_crossentropy"; }
  bool takes_class_indices() const override { return true; }
  Value values(Graph& graph, Value labels, Value predictions) const override {
    const Value indices = class_indices(graph, name(), labels, predictions);
    if (from_logits_) return ops::softmax_cross_entropy(graph, predictions, indices);
    return ops::cross_entropy(graph, predictions, indices);
  }

 private:
  bool from_logits_;
};

class BinaryCrossEntropyLoss final : public Loss {
 public:
  explicit BinaryCrossEntropyLoss(bool from_logits) : from_logits_(from_logits) {}
  std::string name() const override { return "binary_crossentropy"; }
  Value values(Graph& graph, Value labels, Value predictions) const override {
    const Value targets = matching_labels(graph, name(), labels, predictions);
    return ops::binary_cross_entropy(graph, predictions, targets, from_logits_);
  }

 private:
  bool from_logits_;
};

class MeanSquaredErrorLoss final : public Loss {
 public:
  std::string name() const override { return "mean_squared_error"; }
  Value values(Graph& graph, Value labels, Value predictions) const override {
    const Value targets = matching_labels(graph, name(), labels, predictions);
    return ops::square(graph, ops::sub(graph, predictions, targets));
  }
};

class CustomLoss final : public Loss {
 public:
  CustomLoss(std::string name, GraphFunction function) : name_(std::move(name)), function_(std::move(function)) {}
  std::string name() const override { return name_; }
  Value values(Graph& graph, Value labels, Value predictions) const override {
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

template <class T>
LossPtr make_from_logits(const Config& config) {
  return std::make_shared<const T>(config.flag("from_logits"));
}

}  // namespace

Value Loss::call(Graph& graph, Value labels, Value predictions, std::span<const Value> inputs) const {
  return values_with_inputs(graph, labels, in_float32(graph, predictions), inputs);
}

Value Loss::values_with_inputs(Graph& graph, Value labels, Value predictions, std::span<const Value> /*inputs*/) const {
  return values(graph, labels, predictions);
}

const std::vector<LossKind>& loss_kinds() {
  static const std::vector<ConfigField> logits = {{"from_logits", false}};
  static const std::vector<LossKind> kinds = {
      {"categorical_crossentropy", logits, &make_from_logits<CategoricalCrossEntropyLoss>},
      {"sparse_categorical_crossentropy", logits, &make_from_logits<SparseCategoricalCrossEntropyLoss>},
      {"binary_crossentropy", logits, &make_from_logits<BinaryCrossEntropyLoss>},
      {"mean_squared_error",
       {},
       [](const Config&) -> LossPtr { return std::make_shared<const MeanSquaredErrorLoss>(); }},
  };
  return kinds;
}

LossPtr make_loss(std::string_view name, const ConfigEntries& options) {
  if (name == "mse") name = "mean_squared_error";
  for (const LossKind& kind : loss_kinds()) {
    if (kind.name == name) return kind.make(Config(kind.name, kind.fields, options));
  }
  throw_unknown_name("unknown loss", name, names_of(loss_kinds(), &LossKind::name),
                     "; or a function of labels and predictions");
}

LossPtr make_custom_loss(std::string name, GraphFunction function) {
  return std::make_shared<const CustomLoss>(std::move(name), std::move(function));
}

}  // namespace gpubench
