// gb.einsum: transposes, reshapes and one batched matrix product for each pair of operands, from left to right.
#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/ops/elementwise.h"
#include "core/ops/matmul.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"
#include "lua/api/tensor/ops.h"

namespace gpubench::lua {
namespace {

/// A letter for each dimension; those of an ellipsis are negative numbers, -1 the last one.
using Labels = std::vector<int>;

bool holds(const Labels& labels, int label) {
  return std::ranges::find(labels, label) != labels.end();
}

std::string label_text(int label) {
  return label < 0 ? "..." : fmt::format("'{}'", static_cast<char>(label));
}

struct Operand {
  Tensor tensor;
  Labels labels;

  std::int64_t extent(int label) const {
    return tensor.type().shape[static_cast<std::size_t>(std::ranges::find(labels, label) - labels.begin())];
  }
};

/// The equation's parts: "bij,bjk->bik".
class Equation {
 public:
  Equation(const std::string& text, const std::vector<Tensor>& tensors) : text_(text) {
    std::erase_if(text_, [](char letter) { return letter == ' '; });
    const std::size_t arrow = text_.find("->");
    std::string_view left = std::string_view(text_).substr(0, arrow);
    std::vector<std::string_view> terms;
    for (std::size_t comma; (comma = left.find(',')) != std::string_view::npos; left.remove_prefix(comma + 1)) {
      terms.push_back(left.substr(0, comma));
    }
    terms.push_back(left);
    if (terms.size() != tensors.size()) {
      throw ArgumentError(fmt::format("'{}' has {} operands, got {} tensors", text_, terms.size(), tensors.size()));
    }
    for (std::size_t i = 0; i < terms.size(); ++i) add_operand(terms[i], tensors[i]);
    output = arrow == std::string::npos ? implied() : labels_of(std::string_view(text_).substr(arrow + 2), widest_);
    for (const int label : output) {
      if (std::ranges::count(output, label) > 1) fail(fmt::format("the result repeats {}", label_text(label)));
      if (!extents_.contains(label)) fail(fmt::format("no operand has {} of the result", label_text(label)));
    }
  }

  std::vector<Operand> operands;
  Labels output;

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw ArgumentError(fmt::format("'{}': {}", text_, reason));
  }

  /// `hidden`: the number of dimensions that an ellipsis stands for.
  Labels labels_of(std::string_view term, int hidden) const {
    Labels labels;
    while (!term.empty()) {
      if (term.starts_with("...")) {
        if (std::ranges::any_of(labels, [](int label) { return label < 0; })) fail("two ellipses in one operand");
        for (int i = -hidden; i < 0; ++i) labels.push_back(i);
        term.remove_prefix(3);
        continue;
      }
      if (std::isalpha(static_cast<unsigned char>(term.front())) == 0) {
        fail(fmt::format("'{}' is no label: letters name dimensions, '...' those that are not named", term.front()));
      }
      labels.push_back(term.front());
      term.remove_prefix(1);
    }
    return labels;
  }

  void add_operand(std::string_view term, const Tensor& tensor) {
    const TensorType& type = tensor.type();
    const bool open = term.find("...") != std::string_view::npos;
    const int named = static_cast<int>(labels_of(term, 0).size()), hidden = type.rank() - named;
    if (hidden < 0 || (hidden > 0 && !open)) {
      fail(fmt::format("'{}' names {} dimensions, {} has {}", term, named, to_string(type), type.rank()));
    }
    Operand operand{tensor, labels_of(term, hidden)};
    widest_ = std::max(widest_, hidden);
    for (std::size_t i = 0; i < operand.labels.size(); ++i) {
      const int label = operand.labels[i];
      if (std::ranges::count(operand.labels, label) > 1) {
        fail(fmt::format("'{}' repeats {}, which would be a diagonal; multiply by gb.eye(n) and sum instead", term,
                         label_text(label)));
      }
      const auto [known, added] = extents_.emplace(label, type.shape[i]);
      if (!added && known->second != type.shape[i]) {
        fail(fmt::format("{} is {} in one operand and {} in another; x:broadcast_to(shape) makes them equal",
                         label_text(label), known->second, type.shape[i]));
      }
    }
    operands.push_back(std::move(operand));
  }

  /// Without an arrow: the ellipsis, then the letters that occur once, in alphabetical order.
  Labels implied() const {
    Labels labels;
    for (const auto& known : extents_) {
      const int label = known.first;
      const auto uses =
          std::ranges::count_if(operands, [label](const Operand& one) { return holds(one.labels, label); });
      if (label < 0 || uses == 1) labels.push_back(label);
    }
    return labels;
  }

  std::string text_;
  int widest_ = 0;  // dimensions of the longest ellipsis
  std::map<int, std::int64_t> extents_;
};

/// Without the dimensions that nothing else needs.
Operand summed(lua_State* L, const Operand& operand, const Labels& needed) {
  std::vector<std::int64_t> axes;
  Labels left;
  for (std::size_t i = 0; i < operand.labels.size(); ++i) {
    if (holds(needed, operand.labels[i])) left.push_back(operand.labels[i]);
    if (!holds(needed, operand.labels[i])) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (axes.empty()) return operand;
  return {of<ReduceSum>(L, operand.tensor, axes, false), left};
}

Labels joined(const Labels& a, const Labels& b, const Labels& c = {}) {
  Labels labels = a;
  labels.insert(labels.end(), b.begin(), b.end());
  labels.insert(labels.end(), c.begin(), c.end());
  return labels;
}

std::vector<std::int64_t> order_of(const Operand& operand, const Labels& wanted) {
  std::vector<std::int64_t> order;
  for (const int label : wanted) order.push_back(std::ranges::find(operand.labels, label) - operand.labels.begin());
  return order;
}

/// The dimensions in this order, with those that it has not as 1.
Tensor stretched(lua_State* L, const Operand& operand, const Labels& wanted) {
  Labels own;
  Shape shape;
  for (const int label : wanted) {
    const bool has = holds(operand.labels, label);
    if (has) own.push_back(label);
    shape.push_back(has ? operand.extent(label) : 1);
  }
  return of<Reshape>(L, permuted(L, operand.tensor, order_of(operand, own)), shape);
}

std::int64_t size_of_labels(const Operand& operand, const Labels& labels) {
  std::int64_t size = 1;
  for (const int label : labels) size *= operand.extent(label);
  return size;
}

/// [batch..., rows, columns], or with rows and columns exchanged where that is how the operand lies in memory.
struct MatrixOperand {
  Tensor tensor;
  bool transposed = false;
};

MatrixOperand matrix_of(lua_State* L, const Operand& operand, const Labels& batch, const Labels& rows,
                        const Labels& columns) {
  const bool as_it_lies = std::ranges::is_sorted(order_of(operand, joined(batch, rows, columns)));
  const bool transposed = !as_it_lies && std::ranges::is_sorted(order_of(operand, joined(batch, columns, rows)));
  const Labels &first = transposed ? columns : rows, &second = transposed ? rows : columns;
  Shape shape;
  for (const int label : batch) shape.push_back(operand.extent(label));
  shape.push_back(size_of_labels(operand, first));
  shape.push_back(size_of_labels(operand, second));
  const Tensor ordered = permuted(L, operand.tensor, order_of(operand, joined(batch, first, second)));
  return {of<Reshape>(L, ordered, shape), transposed};
}

/// The product of two operands, summed over what nothing else needs. Its dimensions have the order of `needed`, as far
/// as one product gives it.
Operand product_of(lua_State* L, const Operand& a, const Operand& b, const Labels& needed) {
  Labels batch, summed_over, of_a, of_b;
  for (const int label : needed) {
    const bool in_a = holds(a.labels, label), in_b = holds(b.labels, label);
    if (in_a && in_b) batch.push_back(label);
    if (in_a && !in_b) of_a.push_back(label);
    if (in_b && !in_a) of_b.push_back(label);
  }
  for (const int label : a.labels) {
    if (!holds(needed, label)) summed_over.push_back(label);
  }
  const Labels result = joined(batch, of_a, of_b);
  if (summed_over.empty()) return {of_both<Mul>(L, stretched(L, a, result), stretched(L, b, result)), result};
  if (!is_floating(a.tensor.type().dtype)) {
    throw ArgumentError(fmt::format("sums of products need floating-point operands, got {}; cast them to float32",
                                    to_string(a.tensor.type())));
  }
  const MatrixOperand left = matrix_of(L, a, batch, of_a, summed_over),
                      right = matrix_of(L, b, batch, summed_over, of_b);
  const MatmulAttributes attributes{.transpose_a = left.transposed, .transpose_b = right.transposed};
  const Tensor product = apply<Matmul>(L, std::array{left.tensor, right.tensor}, attributes);
  Shape shape;
  for (const int label : result) shape.push_back(holds(a.labels, label) ? a.extent(label) : b.extent(label));
  return {of<Reshape>(L, product, shape), result};
}

Tensor einsum(lua_State* L, const std::string& subscripts, const Rest<Tensor>& tensors) {
  const Equation equation(subscripts, tensors.values);
  const auto needed_after = [&](std::size_t number) {
    Labels needed = equation.output;
    for (std::size_t i = number; i < equation.operands.size(); ++i) {
      for (const int label : equation.operands[i].labels) {
        if (!holds(needed, label)) needed.push_back(label);
      }
    }
    return needed;
  };
  Operand result = summed(L, equation.operands[0], needed_after(1));
  for (std::size_t i = 1; i < equation.operands.size(); ++i) {
    const Labels needed = needed_after(i + 1);
    const Operand next = summed(L, equation.operands[i], joined(needed, result.labels));
    result = product_of(L, summed(L, result, joined(needed, next.labels)), next, needed);
  }
  return permuted(L, result.tensor, order_of(result, equation.output));
}

}  // namespace

void add_einsum(const Module& gb) {
  gb.function<&einsum>("einsum");
}

}  // namespace gpubench::lua
