#include "core/nn/layer_order.h"

#include <algorithm>
#include <map>

namespace gpubench {
namespace {

class Search {
 public:
  void visit(const SymbolPtr& output) {
    enter(*output);
    // Without recursion, so that a deep chain cannot overflow the stack.
    while (!path_.empty()) {
      auto& [node, next] = path_.back();
      if (const std::vector<SymbolPtr>& inputs = nodes_.at(node).inputs; next < inputs.size()) {
        enter(*inputs[next++]);
        continue;
      }
      finished_.push_back(node);
      path_.pop_back();
    }
  }

  std::vector<LayerPtr> order() {
    for (auto node = finished_.rbegin(); node != finished_.rend(); ++node) {
      Node& from = nodes_.at(*node);
      std::size_t& depth = operations_[from.operation].depth;
      from.depth = depth = std::max(depth, from.depth);
      for (const SymbolPtr& input : from.inputs) {
        std::size_t& further = nodes_.at(key(*input)).depth;
        further = std::max(further, from.depth + 1);
      }
    }
    std::ranges::stable_sort(operations_, std::greater<>(), &Operation::depth);
    std::vector<LayerPtr> layers;
    for (const Operation& operation : operations_)
      layers.insert(layers.end(), operation.layers.begin(), operation.layers.end());
    return layers;
  }

 private:
  using Key = const void*;  // an application, or a call of a model
  struct Node {
    std::size_t operation;
    std::vector<SymbolPtr> inputs;
    std::size_t depth = 0;
  };
  /// A layer or a model, in the order in which they are met.
  struct Operation {
    std::vector<LayerPtr> layers;
    std::size_t depth = 0;
  };

  static Key key(const Symbol& symbol) {
    const Application& application = *symbol.application();
    return application.nested_call ? static_cast<Key>(application.nested_call.get()) : &application;
  }

  void enter(const Symbol& symbol) {
    if (nodes_.contains(key(symbol))) return;
    const NestedCall* const call = symbol.application()->nested_call.get();
    const Key operation = call != nullptr ? static_cast<Key>(call->layers.get()) : symbol.layer().get();
    const auto [known, is_new] = known_.emplace(operation, operations_.size());
    if (is_new) operations_.push_back({call != nullptr ? *call->layers : std::vector{symbol.layer()}});
    std::vector<SymbolPtr> inputs;
    if (call == nullptr) inputs = symbol.inputs();
    for (std::size_t i = 0; call != nullptr && i < call->inputs.size(); ++i) {
      if (SymbolPtr input = call->inputs[i].lock()) inputs.push_back(std::move(input));
    }
    nodes_.emplace(key(symbol), Node{known->second, std::move(inputs)});
    path_.emplace_back(key(symbol), 0);
  }

  std::map<Key, Node> nodes_;
  std::map<Key, std::size_t> known_;
  std::vector<Operation> operations_;
  std::vector<std::pair<Key, std::size_t>> path_;
  std::vector<Key> finished_;  // each behind those that it depends on
};

}  // namespace

std::vector<LayerPtr> layer_order(const std::vector<SymbolPtr>& outputs) {
  Search search;
  for (const SymbolPtr& output : outputs) search.visit(output);
  return search.order();
}

}  // namespace gpubench
